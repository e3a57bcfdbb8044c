package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestStopAfterSuccess(t *testing.T) {
	check(t, assert.StopAfterSuccess{}, []row{
		{name: "stops", history: history.New().Attempt(0, ms, 503).Attempt(s, ms, 200),
			want: assert.Pass, detail: "no attempt followed a success (1 call)"},
		{name: "sends the repeat that was scheduled", history: history.New().Attempt(0, ms, 503).Attempt(s, ms, 200).Attempt(3*s, ms, 200),
			want: assert.Fail, detail: "attempt 3 came 2.00 s after attempt 2 had been answered 200; the contract says that a success ends the call", witness: []uint64{2, 3}},
		{name: "finalises an order that is done", history: history.New().Request("POST", "/finalize").Attempt(0, ms, 200).Retries(s, 400, s, s),
			want: assert.Fail, detail: "attempt 2 came 999 ms after attempt 1 had been answered 200; the contract says that a success ends the call; 2 more followed", witness: []uint64{1, 2}},
		{name: "the repeat was under way", history: history.New().Attempt(0, 2*s, 200).Attempt(s, 3*s, 200),
			want: assert.Pass, detail: "no attempt followed a success (1 call)"},
		{name: "the repeat was under way on a slow machine", history: history.New().Attempt(0, ms, 200).Attempt(250*ms, ms, 200),
			want: assert.Pass, detail: "no attempt followed a success (1 call)"},
		{name: "a repeat 260 ms later was not", history: history.New().Attempt(0, ms, 200).Attempt(261*ms, ms, 200),
			want: assert.Fail, detail: "attempt 2 came 260 ms after attempt 1 had been answered 200; the contract says that a success ends the call", witness: []uint64{1, 2}},
		{name: "an answer that was cut off is no success", history: history.New().Attempt(0, ms, 200).With(func(e *journal.Entry) { e.Cut = true }).Attempt(s, ms, 200),
			want: assert.Pass, detail: "no attempt followed a success (1 call)"},
		{name: "an answer that nobody waited for is none", history: history.New().Attempt(0, s, 200).With(func(e *journal.Entry) { e.Gone = 500 * ms }).Attempt(s, ms, 503),
			want: assert.NotExercised, detail: "no call succeeded"},
		{name: "a redirect is none", history: history.New().Retries(0, 302, 0, 0),
			want: assert.NotExercised, detail: "no call succeeded"},
		{name: "watched too briefly", history: history.New().Attempt(0, ms, 200), run: &assert.Run{Until: s},
			want: assert.Inconclusive, detail: "no attempt followed a success, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}
