package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestAttemptHeader(t *testing.T) {
	states := func(claim int32) func(*journal.Entry) { return func(e *journal.Entry) { e.Claim = claim } }
	stamped := func(stamp uint64) func(*journal.Entry) {
		return func(e *journal.Entry) { e.Rare = &journal.Rare{Sent: journal.Sent{Stamp: stamp}} }
	}
	// counts is a call whose attempts state these numbers, a second apart; 0 is none.
	counts := func(h *history.Builder, claims ...int32) *history.Builder {
		for i, claim := range claims {
			h.Attempt(time.Duration(i)*s, ms, 503).With(states(claim))
		}
		return h
	}
	get := history.New
	const kept = "attempt numbers and timestamps were right"
	const none = "no client that made a second attempt stated its number or a timestamp"
	check(t, assert.AttemptHeader{}, []row{
		{name: "from 1", history: counts(get(), 1, 2, 3), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "absent first, as gRPC", history: counts(get(), 0, 2, 3), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "stays", history: counts(get(), 1, 1, 1), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 says that it is number 1; the contract says 2"},
		{name: "goes back", history: counts(get(), 1, 2, 1), want: assert.Fail, witness: []uint64{2, 3},
			detail: "attempt 3 says that it is number 1; the contract says 3"},
		{name: "left out", history: counts(get(), 1, 2, 0), want: assert.Fail, witness: []uint64{2, 3},
			detail: "attempt 3 does not say which it is, as those before did"},
		{name: "skips, once", history: counts(get(), 1, 3), want: assert.Inconclusive,
			detail: "attempt 2 says that it is number 3; the contract says 2; but attempts between may not have arrived"},
		{name: "skips, always", history: clients(3, func(_ int, h *history.Builder) { counts(h, 1, 3) }), want: assert.Fail, witness: []uint64{1, 4},
			detail: "attempt 2 says that it is number 3; the contract says 2 (c0; 3 of 3 calls)"},
		{name: "skips in one call of many", history: counts(clients(3, func(_ int, h *history.Builder) { counts(h, 1, 2) }).Client("z"), 1, 3), want: assert.Inconclusive,
			detail: "attempt 2 says that it is number 3; the contract says 2; but attempts between may not have arrived"},
		{name: "begins at 2", history: counts(get(), 2, 3), want: assert.Inconclusive,
			detail: "the first attempt says that it is number 2; but attempts between may not have arrived"},
		{name: "a redirect counts or not", history: get().Attempt(0, ms, 307).With(states(1)).Attempt(s, ms, 503).With(states(1)).Attempt(2*s, ms, 200).With(states(2)),
			want: assert.Pass, detail: kept + " (1 call)"},
		{name: "two at once", history: get().Attempt(0, 3*s, 200).With(states(1)).Attempt(s, 2*s, 200).With(states(1)), want: assert.NotExercised, detail: none},
		{name: "a proxy's number", history: get().Attempt(0, ms, 503).With(func(e *journal.Entry) {
			e.Claim, e.Rare = 1, &journal.Rare{Sent: journal.Sent{Hop: 1}}
		}).Attempt(s, ms, 503).With(func(e *journal.Entry) { e.Claim, e.Rare = 1, &journal.Rare{Sent: journal.Sent{Hop: 1}} }), want: assert.NotExercised, detail: none},
		{name: "stamped anew", history: get().Attempt(0, ms, 503).With(stamped(1)).Attempt(3*s, ms, 200).With(stamped(2)), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "stamped once", history: get().Attempt(0, ms, 503).With(stamped(1)).Attempt(3*s, ms, 200).With(stamped(1)), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 carries the timestamp of attempt 1, which was sent 3 s before; the contract says that each has its own"},
		{name: "stamped within one second", history: get().Attempt(0, ms, 503).With(stamped(1)).Attempt(s, ms, 200).With(stamped(1)), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "one attempt", history: counts(get(), 1), want: assert.NotExercised, detail: none},
		{name: "no number", history: get().Retries(0, 503, s), want: assert.NotExercised, detail: none},
	})
}
