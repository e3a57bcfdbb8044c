package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestRetryAfterNotLate(t *testing.T) {
	of := func(n int, asked string, wait time.Duration) *history.Builder {
		return clients(n, func(_ int, h *history.Builder) { h.Attempt(0, 0, 429).RetryAfter(asked).Attempt(wait, ms, 200) })
	}
	const none = "no call came back after an answer whose Retry-After asks for a wait"
	starved := assert.Noise{Slices: []assert.Slice{{P99: 400 * ms, Max: 5 * s}}}
	agreed := assert.Delays{Initial: 20 * s, Multiplier: 2, Jitter: assert.Jitter{Form: assert.JitterEqual}}
	check(t, assert.RetryAfterNotLate{}, []row{
		{name: "to the second", history: of(5, "3", 3*s), want: assert.Pass, detail: "the next attempt came 3 s after an answer that asked for 3 s (median of 5)"},
		{name: "half as much again", history: of(5, "3", 4700*ms), want: assert.Pass, detail: "the next attempt came 4.70 s after an answer that asked for 3 s (median of 5)"},
		{name: "three times as long", history: of(5, "3", 9*s), want: assert.Fail, witness: []uint64{3, 8},
			detail: "attempt 2 came 9 s after a 429 that asked for 3 s (median of 5); the contract says not later than 4.50 s"},
		{name: "three times as long, too few", history: of(3, "3", 9*s), want: assert.Inconclusive,
			detail: "attempt 2 came 9 s after a 429 that asked for 3 s (median of 3); the contract says not later than 4.50 s; but 3 waits cannot show that, 5 would"},
		{name: "two of five are late", history: of(3, "3", 3*s).Client("d").Attempt(0, 0, 429).RetryAfter("3").Attempt(9*s, ms, 200).
			Client("e").Attempt(0, 0, 429).RetryAfter("3").Attempt(9*s, ms, 200), want: assert.Pass,
			detail: "the next attempt came 3 s after an answer that asked for 3 s (median of 5)"},
		{name: "a starved machine", history: of(5, "3", 9*s), run: &assert.Run{Ended: true, Noise: starved}, want: assert.Inconclusive,
			detail: "attempt 2 came 9 s after a 429 that asked for 3 s (median of 5); the contract says not later than 4.50 s; but the canary was late by up to 5 s, so the machine itself may have been"},
		{name: "the agreed backoff is longer", clause: assert.RetryAfterNotLate{Curve: agreed}, history: of(5, "3", 15*s), want: assert.Pass,
			detail: "the next attempt came 15 s after an answer that asked for 3 s (median of 5)"},
		{name: "waits still", history: clients(5, func(_ int, h *history.Builder) { h.Attempt(0, 0, 429).RetryAfter("3") }), run: &assert.Run{Until: 30 * s, Working: true, Noise: calm},
			want: assert.Fail, witness: []uint64{3}, detail: "c2 had not come back 30 s after a 429 that asked for 3 s (median of 5); the contract says not later than 4.50 s"},
		{name: "gives up", history: clients(5, func(_ int, h *history.Builder) { h.Attempt(0, 0, 429).RetryAfter("3") }), want: assert.NotExercised, detail: none},
		{name: "longer than the contract's maximum", clause: assert.RetryAfterNotLate{Max: 10 * s}, history: of(5, "60", 200*s), want: assert.NotExercised, detail: none},
		{name: "longer than any client waits", history: of(5, "1000000000000", s), want: assert.NotExercised, detail: none},
		{name: "no header", history: history.New().Retries(0, 503, 9*s), want: assert.NotExercised, detail: none},
	})
}
