package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestTotalDeadline(t *testing.T) {
	open := func(e *journal.Entry) { e.Open = true }
	starved := assert.Noise{Slices: []assert.Slice{{P99: 400 * ms, Max: 2 * s}}}
	check(t, assert.TotalDeadline{}, []row{
		{name: "ends in time", history: history.New().Retries(0, 503, s, 2*s, 4*s),
			want: assert.Pass, detail: "the longest call took 7.00 s; the contract allows 30 s (1 call)"},
		{name: "an attempt starts too late", history: history.New().Retries(0, 503, 20*s, 21*s),
			want: assert.Fail, detail: "attempt 3 arrived 41.0 s after the first; the contract ends a call after 30 s", witness: []uint64{1, 3}},
		{name: "the last attempt is not cut", history: history.New().Attempt(0, ms, 503).Left(25*s, 10*s),
			want: assert.Fail, detail: "attempt 2 ended 35 s after the call began; the contract ends a call after 30 s", witness: []uint64{1, 2}},
		{name: "an answer that came too late was waited for", history: history.New().Attempt(0, 40*s, 200),
			want: assert.Fail, detail: "attempt 1 ended 40 s after the call began; the contract ends a call after 30 s", witness: []uint64{1}},
		{name: "hangs for ever", history: history.New().Attempt(0, 0, 0).With(open), run: &assert.Run{Until: 35 * s, Noise: calm},
			want: assert.Fail, detail: "attempt 1 was still open 35 s after the call began; the contract ends a call after 30 s", witness: []uint64{1}},
		{name: "hangs, watched too briefly", history: history.New().Attempt(0, 0, 0).With(open), run: &assert.Run{Until: 10 * s, Noise: calm},
			want: assert.Inconclusive, detail: "no call was seen to take longer than 30 s, but calls could still go on when the watch ended (1 call)"},
		{name: "late by what a machine can be", clause: assert.TotalDeadline{Within: s}, history: history.New().Attempt(0, ms, 503).Left(900*ms, 340*ms),
			want: assert.Pass, detail: "the longest call took 1.24 s; the contract allows 1 s, and the machine may have been late by the rest (1 call)"},
		{name: "late by more", clause: assert.TotalDeadline{Within: s}, history: history.New().Attempt(0, ms, 503).Left(900*ms, 360*ms),
			want: assert.Fail, detail: "attempt 2 ended 1.26 s after the call began; the contract ends a call after 1 s", witness: []uint64{1, 2}},
		{name: "an attempt without a limit after a deadline of 100 ms", clause: assert.TotalDeadline{Within: 100 * ms},
			history: history.New().Cut(0, 95*ms).Cut(96*ms, 4*ms).Attempt(101*ms, 0, 0).With(open), run: &assert.Run{Until: 5 * s, Noise: calm},
			want: assert.Fail, detail: "attempt 3 was still open 5 s after the call began; the contract ends a call after 100 ms", witness: []uint64{1, 3}},
		{name: "a starved machine", history: history.New().Retries(0, 503, 20*s, 21*s), run: &assert.Run{Ended: true, Noise: starved},
			want: assert.Inconclusive, detail: "attempt 3 arrived 41.0 s after the first; the contract ends a call after 30 s; but the canary was late by up to 2 s, so the machine itself may have been"},
		{name: "no canary", history: history.New().Retries(0, 503, 20*s, 21*s), run: &assert.Run{Ended: true},
			want: assert.Inconclusive, detail: "attempt 3 arrived 41.0 s after the first; the contract ends a call after 30 s; but no canary ran, so the machine itself may have been late"},
		{name: "a starved machine cannot fake a pass", history: history.New().Retries(0, 503, s), run: &assert.Run{Ended: true, Noise: starved},
			want: assert.Pass, detail: "the longest call took 1.00 s; the contract allows 30 s (1 call)"},
		{name: "success at once", history: history.New().Attempt(0, ms, 200),
			want: assert.NotExercised, detail: "no call met a failure that may be retried, or an answer that did not come"},
		{name: "a final answer", history: history.New().Attempt(0, ms, 404),
			want: assert.NotExercised, detail: "no call met a failure that may be retried, or an answer that did not come"},
		{name: "may go on", history: history.New().Retries(0, 503, s), run: &assert.Run{Until: 3 * s, Noise: calm},
			want: assert.Inconclusive, detail: "no call was seen to take longer than 30 s, but calls could still go on when the watch ended (1 call)"},
	})
}
