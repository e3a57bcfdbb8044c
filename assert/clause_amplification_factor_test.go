package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestAmplificationFactor(t *testing.T) {
	check(t, assert.AmplificationFactor{}, []row{
		{name: "four attempts each", history: clients(10, func(_ int, h *history.Builder) { h.Retries(0, 503, s, 2*s, 4*s) }),
			want: assert.Pass, detail: "40 requests for 10 calls that met a failure: 4.0 for each; the contract allows 4"},
		{name: "three layers of three", history: clients(10, func(i int, h *history.Builder) { h.Retries(0, 503, repeat(26+i%2, s)...) }),
			want: assert.Fail, detail: "275 requests for 10 calls that met a failure: 27.5 for each; the contract allows 4, and c1 alone made 28", witness: []uint64{2, 12, 22, 32, 42}},
		{name: "one call makes up for others", history: clients(3, func(i int, h *history.Builder) { h.Retries(0, 503, repeat(3*i, s)...) }),
			want: assert.Pass, detail: "12 requests for 3 calls that met a failure: 4.0 for each; the contract allows 4"},
		{name: "calls without a failure do not thin it out", history: clients(10, func(i int, h *history.Builder) {
			if i > 0 {
				h.Attempt(0, ms, 200)
			} else {
				h.Retries(0, 503, repeat(9, s)...)
			}
		}), want: assert.Fail, detail: "10 requests for 1 call that met a failure: 10.0 for each; the contract allows 4, and c0 alone made 10", witness: []uint64{1, 11, 12, 13, 14}},
		{name: "a budget of 10 %", clause: assert.AmplificationFactor{Max: 1.1}, history: clients(10, func(i int, h *history.Builder) {
			h.Retries(0, 503, repeat(i/9, s)...)
		}), want: assert.Pass, detail: "11 requests for 10 calls that met a failure: 1.1 for each; the contract allows 1.1"},
		{name: "a budget of 10 % overdrawn", clause: assert.AmplificationFactor{Max: 1.1}, history: clients(10, func(i int, h *history.Builder) {
			h.Retries(0, 503, repeat(i/8, s)...)
		}), want: assert.Fail, detail: "12 requests for 10 calls that met a failure: 1.2 for each; the contract allows 1.1, and c8 alone made 2", witness: []uint64{9, 11}},
		{name: "may still grow", history: history.New().Retries(0, 503, s, s), run: &assert.Run{Until: 4 * s},
			want: assert.Inconclusive, detail: "3 requests for 1 call that met a failure: 3.0 for each, but the watch ended before 5 s of silence had passed, so another attempt may have followed"},
		{name: "no failure", history: history.New().Attempt(0, ms, 200),
			want: assert.NotExercised, detail: "no call met a failure"},
	})
}
