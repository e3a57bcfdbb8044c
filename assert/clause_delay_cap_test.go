package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestDelayCap(t *testing.T) {
	hard := assert.DelayCap{Max: s}
	check(t, hard, []row{
		{name: "keeps its cap", history: history.New().Retries(0, 503, 500*ms, s, s),
			want: assert.Pass, detail: "the longest wait was 1 s; the contract allows 1 s (1 call)"},
		{name: "jitter added after the cap", history: history.New().Retries(0, 503, 1100*ms, 1400*ms, 1200*ms, 1500*ms),
			want: assert.Fail, detail: "a waited 1.50 s before attempt 5; the contract allows 1 s", witness: []uint64{4, 5}},
		{name: "the contract allows jitter on top", clause: assert.DelayCap{Max: s, Jitter: s / 2}, history: history.New().Retries(0, 503, 1400*ms, 1500*ms, 1200*ms),
			want: assert.Pass, detail: "the longest wait was 1.50 s; the contract allows 1.50 s (1 call)"},
		{name: "not even with jitter", clause: assert.DelayCap{Max: s, Jitter: s / 2}, history: clients(3, func(i int, h *history.Builder) {
			h.Retries(0, 503, 2*s, ns(i)*s)
		}), want: assert.Fail, detail: "c0 waited 2 s before attempt 2; the contract allows 1 s, 1.50 s with jitter (3 of 3 calls)", witness: []uint64{1, 4}},
		{name: "late by what a machine can be", history: history.New().Retries(0, 503, 1240*ms, 1240*ms),
			want: assert.Pass, detail: "the longest wait was 1.24 s; the contract allows 1 s, and the machine may have been late by the rest (1 call)"},
		{name: "late once", history: history.New().Retries(0, 503, s, 3*s, s),
			want: assert.Inconclusive, detail: "a waited 3 s before attempt 3; the contract allows 1 s; a single late attempt may have other reasons"},
		{name: "no canary", history: history.New().Retries(0, 503, 3*s, 3*s), run: &assert.Run{Ended: true},
			want: assert.Inconclusive, detail: "a waited 3 s before attempt 2; the contract allows 1 s; but no canary ran, so the machine itself may have been late"},
		{name: "told to wait longer", history: history.New().Attempt(0, ms, 429).RetryAfter("30").Attempt(31*s, ms, 200),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
		{name: "60 s by default", clause: assert.DelayCap{}, history: history.New().Retries(0, 503, 90*s, 180*s),
			want: assert.Fail, detail: "a waited 3m before attempt 3; the contract allows 1m", witness: []uint64{2, 3}},
		{name: "may still be waiting", history: history.New().Retries(0, 503, 500*ms, s), run: &assert.Run{Until: 5 * s, Noise: calm},
			want: assert.Inconclusive, detail: "no wait longer than 1 s was seen, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
		{name: "never retries", history: history.New().Attempt(0, ms, 503),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
	})
}
