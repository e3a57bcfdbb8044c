package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestSingleFlight(t *testing.T) {
	get := history.New
	open := func(e *journal.Entry) { e.Open = true }
	starved := assert.Noise{Slices: []assert.Slice{{P99: 400 * ms, Max: 2 * s}}}
	const kept = "no attempt was sent while the one before was open (1 call)"
	const none = "no call had a second attempt, or an answer that took a second or more"
	check(t, assert.SingleFlight{}, []row{
		{name: "one after the other", history: get().Retries(0, 503, s, s), want: assert.Pass, detail: kept},
		{name: "gives up, then tries again", history: get().Left(0, 4*s).Left(5*s, 4*s), want: assert.Pass, detail: kept},
		{name: "at once after giving up, noticed a little late", history: get().Left(0, 4*s).Left(4*s-40*ms, 4*s), want: assert.Pass, detail: kept},
		{name: "waits patiently", history: get().Attempt(0, 3*s, 200), want: assert.Pass, detail: kept},
		{name: "a copy after a second", history: get().Attempt(0, 3*s, 200).Attempt(s, 2*s, 200), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 was sent while attempt 1 was open, and both stayed so for 2 s; the contract says one at a time"},
		{name: "a copy after a second, and the loser is closed", history: get().Left(0, 1500*ms).Attempt(s, 500*ms, 200), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 was sent while attempt 1 was open, and both stayed so for 500 ms; the contract says one at a time"},
		{name: "gives up without closing", history: get().Attempt(0, 0, 0).With(open).Attempt(4*s, 0, 0).With(open), run: &assert.Run{Until: 10 * s, Noise: calm},
			want: assert.Fail, witness: []uint64{1, 2}, detail: "attempt 2 was sent while attempt 1 was open, and both stayed so for 6 s; the contract says one at a time " +
				"(was it given up without closing its connection?)"},
		{name: "the third overlaps the first", history: get().Attempt(0, 9*s, 200).Attempt(s, 10*ms, 503).Attempt(2*s, 3*s, 200), want: assert.Fail, witness: []uint64{1, 3},
			detail: "attempt 3 was sent while attempt 1 was open, and both stayed so for 3 s; the contract says one at a time"},
		{name: "two at a time, as agreed", clause: assert.SingleFlight{Max: 2}, history: get().Attempt(0, 3*s, 200).Attempt(s, 2*s, 200), want: assert.Pass, detail: kept},
		{name: "three where two are agreed", clause: assert.SingleFlight{Max: 2}, history: get().Attempt(0, 3*s, 200).Attempt(s, 2*s, 200).Attempt(2*s, 3*s, 200),
			want: assert.Fail, witness: []uint64{2, 3}, detail: "attempt 3 was sent while attempt 2 was open, and both stayed so for 1 s; the contract says 2 at a time"},
		{name: "a body that was not read hides who left", history: post().Attempt(0, 3*s, 503).With(func(e *journal.Entry) { e.Early = true }).Attempt(2*s, ms, 200),
			want: assert.Pass, detail: kept},
		{name: "a starved machine", history: get().Left(0, 4*s).Left(3*s, 4*s), run: &assert.Run{Ended: true, Noise: starved}, want: assert.Inconclusive,
			detail: "attempt 2 was sent while attempt 1 was open, and both stayed so for 1 s; the contract says one at a time; but the canary was late by up to 2 s, so the machine itself may have been"},
		{name: "one quick answer", history: get().Attempt(0, ms, 200), want: assert.NotExercised, detail: none},
		{name: "two calls side by side", history: get().Attempt(0, ms, 200).Request("GET", "/other").Attempt(0, ms, 200), want: assert.NotExercised, detail: none},
		{name: "may go on", history: get().Attempt(0, 0, 0).With(open), run: &assert.Run{Until: 3 * s}, want: assert.Inconclusive,
			detail: "no attempt was sent while the one before was open, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}
