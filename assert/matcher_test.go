package assert_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// fixed is a clause whose verdict does not depend on the calls, except that it shows the first one's attempts.
type fixed assert.Verdict

func (fixed) ID() string { return "fixed" }

func (f fixed) Check(calls []assert.Call) assert.Result {
	r := assert.Result{Verdict: assert.Verdict(f), Detail: "attempt 2 came 3 ms after a 400; the contract says never."}
	if len(calls) > 0 {
		r.Witness = calls[0].Attempts
	}
	return r
}

type source []journal.Entry

func (s source) Entries() []journal.Entry { return s }

func TestMatcherVerdicts(t *testing.T) {
	for _, test := range []struct {
		verdict assert.Verdict
		matches bool
		err     string
	}{
		{assert.Pass, true, ""},
		{assert.Fail, false, ""},
		{assert.Inconclusive, false, "assert: fixed is inconclusive: attempt 2 came"},
		{assert.NotExercised, false, "assert: fixed is not-exercised: attempt 2 came"},
	} {
		t.Run(test.verdict.String(), func(t *testing.T) {
			matches, err := assert.Keep(fixed(test.verdict)).Match([]journal.Entry{})
			if matches != test.matches || (err == nil) != (test.err == "") || (err != nil && !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, %v; want %v, %q", matches, err, test.matches, test.err)
			}
		})
	}
}

func TestMatcherTakesEveryHistory(t *testing.T) {
	entries := history.New().Retries(0, 400, 3*ms).Entries()
	lossy := journal.History{Entries: entries, Lost: 5}
	for _, test := range []struct {
		name   string
		actual any
		err    string // part of it
	}{
		{"source", source(entries), ""},
		{"entries", entries, ""},
		{"calls", assert.Calls(entries, assert.Key{}), ""},
		{"history", journal.History{Entries: entries}, ""},
		{"pointer to a history", &journal.History{Entries: entries}, ""},
		{"journal", journal.New(0), ""},
		{"history that lost entries", lossy, "dropped 5 older entries"},
		{"nil pointer", (*journal.History)(nil), "not *journal.History"},
		{"nonsense", 7, "Keep(fixed) wants a journal.Source, journal.History, []journal.Entry or []assert.Call, not int"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := assert.Keep(fixed(assert.Pass)).Match(test.actual)
			if (err == nil) != (test.err == "") || (err != nil && !strings.Contains(err.Error(), test.err)) {
				t.Errorf("got %v, want %q", err, test.err)
			}
		})
	}
}

func TestMatcherLetsFailsStandOnLossyHistories(t *testing.T) {
	m := assert.Keep(fixed(assert.Fail))
	if matches, err := m.Match(journal.History{Lost: 1, Entries: history.New().Retries(0, 400, 3*ms).Entries()}); matches || err != nil {
		t.Errorf("got %v, %v; a breach that was seen stays one", matches, err)
	}
}

func TestMatcherMayChange(t *testing.T) {
	for verdict, want := range map[assert.Verdict]bool{assert.Pass: true, assert.Inconclusive: true, assert.NotExercised: true, assert.Fail: false} {
		m := assert.Keep(fixed(verdict))
		_, _ = m.Match([]journal.Entry{})
		if got := m.MatchMayChangeInTheFuture(nil); got != want {
			t.Errorf("%v may change: %v, want %v", verdict, got, want)
		}
	}
}

func TestMatcherGroupsByKey(t *testing.T) {
	entries := history.New().Body("1").Attempt(0, ms, 400).Body("2").Attempt(4*ms, ms, 400).Entries()
	m := assert.Keep(fixed(assert.Fail)).By(assert.Key{OneCall: true})
	_, _ = m.Match(entries)
	if text := m.FailureMessage(nil); !strings.Contains(text, "3 ms    a") {
		t.Errorf("the two are one call with a wait between them:\n%s", text)
	}
}

func TestMatcherNegated(t *testing.T) {
	m := assert.Keep(fixed(assert.Pass))
	_, _ = m.Match([]journal.Entry{})
	want := "Expected the client to break fixed, but it kept it: attempt 2 came 3 ms after a 400; the contract says never."
	if got := m.NegatedFailureMessage(nil); got != want {
		t.Errorf("got %s", got)
	}
}

func TestFailureTextShowsEveryKindOfAnswer(t *testing.T) {
	entries := history.New().Client("driver-7").Request("POST", "/driver/status").
		Attempt(0, ms, 503).RetryAfter("2").With(func(e *journal.Entry) { e.Fault = "status" }).
		Cut(2*s, ms).With(func(e *journal.Entry) { e.Fault = "reset" }).
		Left(12*s, 5*s).
		Attempt(18*s, ms, 200).With(func(e *journal.Entry) { e.Cut = true; e.Fault = "truncate" }).
		Attempt(19*s, ms, 0).With(func(e *journal.Entry) { e.Open = true }).Entries()
	m := assert.Keep(fixed(assert.Fail)).By(assert.Key{OneCall: true})
	_, _ = m.Match(entries)
	want := `The client broke fixed: attempt 2 came 3 ms after a 400; the contract says never.

  seq  at       waited   client    request              answer               fault
  1    0 ms     -        driver-7  POST /driver/status  503, Retry-After: 2  status
  2    2000 ms  1999 ms  driver-7  POST /driver/status  none, cut off        reset
  3    12.0 s   9999 ms  driver-7  POST /driver/status  none, client left
  4    18.0 s   1000 ms  driver-7  POST /driver/status  200, cut off         truncate
  5    19.0 s   999 ms   driver-7  POST /driver/status  still open
`
	if got := m.FailureMessage(nil); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFailureTextOfAStormIsShort(t *testing.T) {
	b := history.New()
	for i := range 1000 {
		b.Attempt(time.Duration(i)*10*ms, ms, 400)
	}
	m := assert.Keep(fixed(assert.Fail)).By(assert.Key{OneCall: true})
	_, _ = m.Match(b.Entries())
	text := m.FailureMessage(nil)
	if lines := strings.Count(text, "\n"); lines > 20 || !strings.Contains(text, "and 988 more") {
		t.Errorf("%d lines:\n%s", lines, text)
	}
}

func TestMatcherKnowsWhenAClientEnded(t *testing.T) {
	entries := history.New().Attempt(0, ms, 400).Entries()
	if _, err := assert.Keep(assert.NoRetry4xx{}).Match(entries); err == nil || !strings.Contains(err.Error(), "is inconclusive") {
		t.Errorf("a client that may still retry: %v", err)
	}
	for name, actual := range map[string]any{"entries": entries, "source": source(entries), "history": journal.History{Entries: entries}} {
		if kept, err := assert.Keep(assert.NoRetry4xx{}).Ended().Match(actual); !kept || err != nil {
			t.Errorf("%s of a client that has returned: %v, %v", name, kept, err)
		}
	}
	lossy := journal.History{Entries: entries, Lost: 1}
	if _, err := assert.Keep(assert.NoRetry4xx{}).Ended().Match(lossy); err == nil {
		t.Error("that the client ended does not bring back what the journal lost")
	}
}
