package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// saying gives an answer a directive.
func saying(d journal.Directive, ms string) func(*journal.Entry) {
	return func(e *journal.Entry) {
		e.Rare = &journal.Rare{Told: journal.Told{Directive: d, RetryAfterMS: ms}}
	}
}

func TestServerDirective(t *testing.T) {
	get := history.New
	yes, no := saying(journal.DirectiveYes, ""), saying(journal.DirectiveNo, "")
	const kept = "the server's word whether to try again was followed (1 call)"
	check(t, assert.ServerDirective{}, []row{
		{name: "no, and nothing follows", history: get().Attempt(0, ms, 503).With(no), want: assert.Pass, detail: kept},
		{name: "no, and tried again", history: get().Attempt(0, ms, 503).With(no).Attempt(s, ms, 200), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 came 999 ms after a 503 that said not to try again"},
		{name: "no, to a copy that is under way", history: get().Attempt(0, s, 503).With(no).Attempt(500*ms, s, 200), want: assert.Pass, detail: kept},
		{name: "yes, and tried again", history: get().Attempt(0, ms, 409).With(yes).Attempt(s, ms, 200), want: assert.Pass, detail: kept},
		{name: "yes, and given up", history: get().Attempt(0, ms, 409).With(yes), want: assert.Fail, witness: []uint64{1},
			detail: "nothing followed a 409 that said to try again"},
		{name: "yes, four times", history: get().Attempt(0, ms, 409).With(yes).Attempt(s, ms, 409).With(yes), want: assert.Pass, detail: kept},
		{name: "yes, where the contract allows no retry", clause: assert.ServerDirective{Attempts: 1}, history: get().Attempt(0, ms, 409).With(yes), want: assert.Pass, detail: kept},
		{name: "yes, and the watch ends", history: get().Attempt(0, ms, 409).With(yes), run: &assert.Run{Until: s}, want: assert.Inconclusive,
			detail: "the server's word whether to try again was followed so far, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
		{name: "in two seconds", history: get().Attempt(0, 0, 503).With(saying(journal.DirectivePushback, "2000")).Attempt(2*s, ms, 200), want: assert.Pass, detail: kept},
		{name: "in two seconds, and too soon", history: get().Attempt(0, 0, 503).With(saying(journal.DirectivePushback, "2000")).Attempt(s, ms, 200), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 came 1 s after a 503 that said to try again in 2 s"},
		{name: "no word", history: get().Retries(0, 503, s), want: assert.NotExercised, detail: "no answer said whether to try again"},
	})
	if got := assert.StrictResponses().For(get().Attempt(0, ms, 409).With(yes).Entries()[0]); got != assert.Backoff {
		t.Errorf("a 409 that says to try again may be repeated, not: %s", got)
	}
}
