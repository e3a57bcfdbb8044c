package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestNoRetryAfterCancel(t *testing.T) {
	get := history.New
	at := func(cancelled time.Duration) *assert.Run {
		return &assert.Run{Ended: true, Noise: calm, Cancelled: cancelled}
	}
	starved := assert.Noise{Slices: []assert.Slice{{P99: 40 * ms, Max: 2 * s}}}
	const kept = "no attempt followed once the caller had cancelled (1 call)"
	const none = "no caller cancelled while a call was going on"
	check(t, assert.NoRetryAfterCancel{}, []row{
		{name: "leaves a hanging attempt", history: get().Left(0, 200*ms), run: at(200 * ms), want: assert.Pass, detail: kept},
		{name: "stops during the wait", history: get().Attempt(0, ms, 503), run: at(200 * ms), want: assert.Pass, detail: kept},
		{name: "an attempt that was on its way", history: get().Attempt(0, ms, 503).Left(300*ms, 5*ms), run: at(200 * ms), want: assert.Pass, detail: kept},
		{name: "takes it for a failure", history: get().Left(0, 200*ms).Attempt(s, ms, 200), run: at(200 * ms), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 came 800 ms after the caller had cancelled; the contract says that this ends the call"},
		{name: "sleeps through it", history: get().Retries(0, 503, 500*ms, s, 2*s), run: at(800 * ms), want: assert.Fail, witness: []uint64{2, 3},
			detail: "attempt 3 came 702 ms after the caller had cancelled; the contract says that this ends the call; 1 more followed"},
		{name: "a starved machine", history: get().Left(0, 200*ms).Attempt(s, ms, 200), run: &assert.Run{Ended: true, Noise: starved, Cancelled: 200 * ms}, want: assert.Inconclusive,
			detail: "attempt 2 came 800 ms after the caller had cancelled; the contract says that this ends the call; but the canary was late by up to 2 s, so the machine itself may have been"},
		{name: "nobody cancelled", history: get().Retries(0, 503, s), want: assert.NotExercised, detail: none},
		{name: "it was over already", history: get().Attempt(0, ms, 200).Attempt(s, ms, 200), run: at(500 * ms), want: assert.NotExercised, detail: none},
		{name: "it began later", history: get().Request("POST", "/bye").Attempt(s, ms, 503), run: at(500 * ms), want: assert.NotExercised, detail: none},
		{name: "may go on", history: get().Attempt(0, ms, 503), run: &assert.Run{Until: s, Noise: calm, Cancelled: 200 * ms}, want: assert.Inconclusive,
			detail: "no attempt followed once the caller had cancelled, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}
