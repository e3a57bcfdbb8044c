package playbook_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/playbook"
	"github.com/retrygate/retrygate/assert/report"
)

// hostile is a storm by a client with a name that would like to be markup, and drive the reader's terminal.
func hostile() playbook.Findings {
	var l traffic
	const name = "<script>alert(1)</script>|@all\x1b[31m"
	for at := time.Duration(0); at < 3*time.Minute; at += 100 * time.Millisecond {
		e := l.send(at, name, "POST", "/a|b/<b>", 400)
		e.BodySum, e.BodyWhole, e.Early = 7, true, false
		l.send(at, "second", "POST", "/a|b/<b>", 400)
	}
	for i := range 20 {
		l.send(time.Duration(i)*time.Second, fmt.Sprint("lawful-", i), "GET", "/", 200)
	}
	f := l.findings(playbook.Options{Alerts: []assert.Rate{{N: 100, Per: time.Minute}}})
	f.Notes = []string{"a note & more"}
	return f
}

func TestFormats(t *testing.T) {
	f := hostile()
	if len(f.Accused) != 2 || f.Redundant != 2*1799 {
		t.Fatalf("%d accused, %d redundant", len(f.Accused), f.Redundant)
	}
	for _, format := range playbook.Formats.All() {
		t.Run(format.Name, func(t *testing.T) {
			var b bytes.Buffer
			if err := format.Write(&b, f, report.Style{}); err != nil || format.Summary == "" {
				t.Fatal(err)
			}
			page := b.String()
			for _, want := range []string{"second", "lawful-0", "1799", "no-retry-4xx", "100/1m"} {
				if !strings.Contains(page, want) {
					t.Errorf("nothing of %s in\n%s", want, page)
				}
			}
			if strings.Contains(page, "\x1b") || format.Name != "json" && format.Name != "text" && strings.Contains(page, "<script>") {
				t.Errorf("the client's name is markup in\n%s", page)
			}
		})
	}
}

// TestJSON reads back what was written, with lists where there are none.
func TestJSON(t *testing.T) {
	format, err := playbook.Formats.Get("json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := format.Write(&b, hostile(), report.Style{}); err != nil {
		t.Fatal(err)
	}
	var back playbook.Findings
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Accused[0].Redundant != 1799 || back.Alerts[0].Limit.N != 100 {
		t.Errorf("%v: %+v", err, back)
	}
	if p := back.Accused[0].Payloads; p == nil && back.Accused[1].Payloads == nil {
		t.Error("nothing said of payloads")
	}
	b.Reset()
	if err := format.Write(&b, playbook.Findings{Accused: []playbook.Client{{}}}, report.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"files", "others", "endpoints", "alerts", "notes", "breaks", "statuses"} {
		if !strings.Contains(b.String(), `"`+list+`": []`) {
			t.Errorf("%s is no empty list in %s", list, b.String())
		}
	}
}

// TestTextKeepsToItsWidth holds the text to the terminal's width.
func TestTextKeepsToItsWidth(t *testing.T) {
	format, _ := playbook.Formats.Get("text")
	var b bytes.Buffer
	if err := format.Write(&b, hostile(), report.Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 && !strings.HasPrefix(line, "verdict:") {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestPageOfOne leaves nobody else on the page of one client.
func TestPageOfOne(t *testing.T) {
	var l traffic
	for at := time.Duration(0); at < 3*time.Minute; at += 100 * time.Millisecond {
		l.send(at, "looper", "POST", "/status", 400)
		l.send(at, "other-looper", "POST", "/status", 400)
	}
	l.send(time.Second, "quiet", "GET", "/", 200)
	for client, want := range map[string]assert.Verdict{"looper": assert.Fail, "quiet": assert.NotExercised} {
		v := playbook.New(playbook.Options{})
		for i := range l {
			l[i].Seq = uint64(i + 1)
			v.Add(&l[i])
		}
		f := v.Findings(playbook.Facts{Until: 3 * time.Minute, Only: client})
		if f.Verdict != want || (f.Exit == 1) != (want == assert.Fail) {
			t.Errorf("%s: %s, exit %d", client, f.Verdict, f.Exit)
		}
		for _, format := range playbook.Formats.All() {
			var b bytes.Buffer
			if err := format.Write(&b, f, report.Style{}); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(b.String(), "other-looper") || !strings.Contains(b.String(), client) {
				t.Errorf("the page of %s:\n%s", client, b.String())
			}
		}
	}
}
