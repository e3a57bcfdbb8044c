package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
)

func TestAccept(t *testing.T) {
	known, err := assert.LoadKnown("known.yaml", []byte(`
- {clause: jitter-present, client: curl, reason: ticket 7, expires: 2027-01-31}
- {clause: retry-cap, client: curl, reason: ticket 8, expires: 2026-01-31}
- {clause: min-spacing, client: curl, reason: ticket 9, expires: 2027-01-31}
- {clause: total-deadline, client: curl, reason: ticket 10, expires: 2027-01-31}
- {clause: jitter-present, client: wget, reason: ticket 11, expires: 2026-01-31}
`))
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	result := func(clause, scenario string, v assert.Verdict) Result {
		return Result{Clause: clause, Scenario: scenario, Level: assert.Major, Verdict: v, Detail: clause + " in " + scenario}
	}
	judged := func(all ...Result) Report {
		r := Report{FailOn: assert.Major, Clients: []Client{{Name: "curl"}}, Results: all}
		r.Accept(known, now)
		r.Conclude()
		return r
	}
	for _, test := range []struct {
		name    string
		results []Result
		exit    int
		note    string // the only one, "" for none
	}{
		{"accepted", []Result{result("jitter-present", "a", assert.Fail), result("jitter-present", "b", assert.Pass)}, ExitKept, ""},
		{"next to a new one", []Result{result("jitter-present", "a", assert.Fail), result("idempotent-only", "a", assert.Fail)}, ExitBroken, ""},
		{"expired", []Result{result("retry-cap", "a", assert.Fail)}, ExitBroken,
			"known.yaml:3: retry-cap was accepted until 2026-01-31, which is over: it counts again"},
		{"no longer needed", []Result{result("min-spacing", "a", assert.Pass), result("min-spacing", "b", assert.NotExercised)}, ExitKept,
			"known.yaml:4: min-spacing is accepted, but the client keeps it now: take the line out"},
		{"never exercised", []Result{result("min-spacing", "a", assert.NotExercised)}, ExitInconclusive, ""},
		{"undecided stays undecided", []Result{result("total-deadline", "a", assert.Inconclusive)}, ExitInconclusive, ""},
	} {
		r := judged(test.results...)
		if r.Exit != test.exit || strings.Join(r.Notes, "\n") != test.note {
			t.Errorf("%s: exit %d, want %d; notes %q, want %q", test.name, r.Exit, test.exit, r.Notes, test.note)
		}
	}
	r := judged(result("jitter-present", "a", assert.Fail), result("jitter-present", "b", assert.Pass))
	for format, want := range map[string][]string{
		"text":     {"WARN  jitter-present (major) in a, known", "accepted until 2027-01-31: ticket 7", "but for 1 clause accepted as"},
		"markdown": {"| `jitter-present` | major | a | jitter-present in a | 2027-01-31 | ticket 7 |"},
		"json":     {`"reason": "ticket 7"`, `"expires": "2027-01-31"`, `"verdict": "fail"`},
	} {
		var out bytes.Buffer
		f, _ := Formats.Get(format)
		if err := f.Write(&out, r, Style{}); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s lacks %q:\n%s", format, w, out.String())
			}
		}
		if strings.Contains(out.String(), "pass (1)") || strings.Contains(out.String(), "Pass (1)") {
			t.Errorf("%s: a clause that is broken elsewhere is shown as kept", format)
		}
	}
}
