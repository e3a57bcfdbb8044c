package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestRetryCap(t *testing.T) {
	check(t, assert.RetryCap{}, []row{
		{name: "stops at the cap", history: history.New().Retries(0, 503, s, 2*s, 4*s),
			want: assert.Pass, detail: "no call took more than 4 attempts; the contract allows 4 (1 call)"},
		{name: "one too many", history: history.New().Retries(0, 503, s, 2*s, 4*s, 8*s),
			want: assert.Fail, detail: "a sent 5 attempts of one call; the contract allows 4", witness: []uint64{1, 2, 3, 4, 5}},
		{name: "N+2 for N retries", clause: assert.RetryCap{Max: 3}, history: history.New().Retries(0, 429, s, s, s),
			want: assert.Fail, detail: "a sent 4 attempts of one call; the contract allows 3", witness: []uint64{1, 2, 3, 4}},
		{name: "a capped delay is not a capped count", history: history.New().Client("client-3").Retries(0, 503, repeat(59, 20*ms)...),
			want: assert.Fail, detail: "client-3 sent 60 attempts of one call; the contract allows 4", witness: []uint64{1, 2, 3, 4, 5}},
		{name: "a loop on 400", history: history.New().Retries(0, 400, repeat(9, ms)...),
			want: assert.Fail, detail: "a sent 10 attempts of one call; the contract allows 4", witness: []uint64{1, 2, 3, 4, 5}},
		{name: "caps one kind of error only", history: clients(6, func(i int, h *history.Builder) {
			if i%2 == 0 {
				h.Retries(0, 503, s, 2*s)
				return
			}
			for k := range 7 {
				h.Cut(ns(k)*s, 0)
			}
		}), want: assert.Fail, detail: "c1 sent 7 attempts of one call; the contract allows 4 (3 of 6 calls)", witness: []uint64{2, 7, 13, 16, 22}},
		{name: "never retries", history: history.New().Attempt(0, ms, 503),
			want: assert.Pass, detail: "no call took more than 1 attempt; the contract allows 4 (1 call)"},
		{name: "gives up on a hanging server", history: history.New().Left(0, 5*s),
			want: assert.Pass, detail: "no call took more than 1 attempt; the contract allows 4 (1 call)"},
		{name: "hidden resends are not charged", clause: assert.RetryCap{Max: 2},
			history: history.New().Conn(1).Attempt(0, ms, 503).Cut(s, 0).Conn(2).Attempt(s+ms, ms, 503),
			want:    assert.Pass, detail: "no call took more than 2 attempts; the contract allows 2 (1 call)"},

		{name: "success came first", history: history.New().Attempt(0, ms, 503).Attempt(s, ms, 200),
			want: assert.NotExercised, detail: "no call ended in a failure that may be retried, so nothing shows where the client stops"},
		{name: "a final answer came first", history: history.New().Attempt(0, ms, 503).Attempt(s, ms, 404),
			want: assert.NotExercised, detail: "no call ended in a failure that may be retried, so nothing shows where the client stops"},
		{name: "the next wait may still be running", history: history.New().Retries(0, 503, s, 2*s), run: &assert.Run{Until: 10 * s},
			want: assert.Inconclusive, detail: "no call took more than the 4 attempts that the contract allows, but the watch ended before 8 s of silence had passed, so another attempt may have followed (1 call)"},
		{name: "four times the longest wait has passed", history: history.New().Retries(0, 503, s, 2*s), run: &assert.Run{Until: 12 * s},
			want: assert.Pass, detail: "no call took more than 3 attempts; the contract allows 4 (1 call)"},
		{name: "told to come back later", history: history.New().Attempt(0, ms, 503).RetryAfter("60"), run: &assert.Run{Until: 80 * s},
			want: assert.Inconclusive, detail: "no call took more than the 4 attempts that the contract allows, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
		{name: "still hanging", history: history.New().Attempt(0, 0, 0).With(func(e *journal.Entry) { e.Open = true }), run: &assert.Run{Until: 80 * s},
			want: assert.NotExercised, detail: "no call ended in a failure that may be retried, so nothing shows where the client stops"},
	})
}
