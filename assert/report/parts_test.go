package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestSpan(t *testing.T) {
	rows := map[float64]string{
		0: "0 ms", 0.04: "0 ms", 0.42: "0.4 ms", -3: "-3.0 ms", 12.4: "12 ms", 999.4: "999 ms", 999.7: "1.00 s",
		1001: "1.00 s", 12_345: "12.3 s", 59_949: "59.9 s", 59_960: "1m00s", 125_000: "2m05s", 3_725_000: "1h02m05s", 172_799_000: "47h59m59s", 352_800_000: "4d02h",
	}
	for ms, want := range rows {
		if got := Span(ms); got != want {
			t.Errorf("Span(%v) = %q, want %q", ms, got, want)
		}
	}
	if got := spans(900, 2400); got != "900 ms to 2.40 s" {
		t.Errorf("spans over two units: %q", got)
	}
}

func TestQuoteIsAShellWord(t *testing.T) {
	got := Quote([]string{"curl", "-H", "X-Id: it's", "{{url}}/a", ""})
	if want := `curl -H 'X-Id: it'\''s' '{{url}}/a' ''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnswer(t *testing.T) {
	rows := map[string]Witness{
		"503, Retry-After 2":          {Status: 503, RetryAfter: "2"},
		"200, cut off":                {Status: 200, Cut: true},
		"reset":                       {Fault: "reset", Cut: true},
		"no answer":                   {},
		"TLS: alert: bad certificate": {Fault: "certificate", Handshake: "alert: bad certificate", Cut: true, Left: true},
		"no answer yet, client left":  {Fault: "hang", Left: true},
	}
	for want, w := range rows {
		if got := Answer(w); got != want {
			t.Errorf("Answer(%+v) = %q, want %q", w, got, want)
		}
	}
}

func TestGapsComeFromTheCalls(t *testing.T) {
	attempts := []journal.Entry{
		{Seq: 1, At: 0, Took: time.Millisecond},
		{Seq: 3, At: 5 * time.Millisecond, Took: time.Millisecond},
		{Seq: 9, At: 7 * time.Millisecond},
	}
	// The witness leaves the middle attempt out; the gap of the last still counts from it.
	got := Witnesses([]journal.Entry{attempts[0], attempts[2]}, []assert.Call{{Attempts: attempts}})
	if got[0].GapMS != nil || got[1].GapMS == nil || *got[1].GapMS != 1 {
		t.Errorf("got %+v, want no gap and 1 ms", got)
	}
}

func TestClientsCannotDriveTheReader(t *testing.T) {
	r := Report{
		Clients: []Client{{Name: "x", Command: []string{"\x1b]0;owned\x07"}}},
		Results: []Result{{Clause: "c", Level: assert.Critical, Verdict: assert.Fail, Detail: "a|b <img src=x> @everyone `x`\x1b[2J",
			Witness: []Witness{{Method: "GET", Path: "/\x1b[2J\u202e\n~~~\n# x"}}}},
		Errors: []string{"said:\n\x1b[31mred"},
	}
	r.Conclude()
	for _, f := range Formats.All() {
		var b strings.Builder
		if err := f.Write(&b, r, Style{}); err != nil {
			t.Fatal(err)
		}
		if i := strings.IndexFunc(b.String(), func(c rune) bool { return c != '\n' && c != '\u200b' && unsafe(c) }); i >= 0 && f.Name != "json" {
			t.Errorf("%s passes a control character on: %q", f.Name, b.String()[i:])
		}
		if f.Name == "markdown" && (strings.Contains(b.String(), "<img") || strings.Contains(b.String(), "@everyone")) {
			t.Errorf("markdown lets a client's words act:\n%s", b.String())
		}
	}
}

func TestTextKeepsToItsWidth(t *testing.T) {
	for _, width := range []int{20, 60, 80, 100, 300} {
		var b strings.Builder
		if err := writeText(&b, sample(), Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		most := min(max(width, narrowest), widest)
		for line := range strings.Lines(b.String()) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > most {
				t.Errorf("width %d: a line of %d columns: %s", width, n, line)
			}
		}
	}
}

func TestEveryFormatIsDescribed(t *testing.T) {
	if got := Formats.Names(); !slices.Equal(got, []string{"json", "markdown", "text"}) {
		t.Errorf("formats: %v", got)
	}
	for _, f := range Formats.All() {
		if f.Summary == "" {
			t.Errorf("%s has no summary", f.Name)
		}
	}
}
