package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestStrictRFCSingleRetry(t *testing.T) {
	const kept = "one retry at most followed failures of the connection (1 call)"
	check(t, assert.StrictRFCSingleRetry{}, []row{
		{name: "one", history: resets(1, s), want: assert.Pass, detail: kept},
		{name: "two", history: resets(2, s), want: assert.Fail, witness: []uint64{1, 2, 3},
			detail: "a tried again 2 times after a failure of the connection; the contract says once at most"},
		{name: "none", history: resets(0, s), want: assert.Pass, detail: kept},
		{name: "one, and one after a 503", history: history.New().Cut(0, ms).Attempt(s, ms, 503).Attempt(2*s, ms, 200), want: assert.Pass, detail: kept},
		{name: "two timeouts", history: history.New().Left(0, s).Left(2*s, s).Left(4*s, s), want: assert.Fail, witness: []uint64{1, 2, 3},
			detail: "a tried again 2 times after a failure of the connection; the contract says once at most"},
		{name: "not processed", history: history.New().Cut(0, ms).With(func(e *journal.Entry) { e.Unprocessed = true }).Cut(s, ms).Attempt(2*s, ms, 200),
			want: assert.Pass, detail: kept},
		{name: "answers only", history: history.New().Retries(0, 503, s, s), want: assert.NotExercised, detail: "no connection failed under a request"},
	})
}
