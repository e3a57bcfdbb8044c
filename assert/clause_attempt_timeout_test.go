package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestAttemptTimeout(t *testing.T) {
	get := history.New
	open := func(e *journal.Entry) { e.Open = true }
	faulty := func(e *journal.Entry) { e.Fault = "drip" }
	starved := assert.Noise{Slices: []assert.Slice{{P99: 400 * ms, Max: 20 * s}}}
	const none = "no client was left without an answer until it gave up"
	check(t, assert.AttemptTimeout{}, []row{
		{name: "four seconds each", history: get().Left(0, 4*s).Left(5*s, 4100*ms), want: assert.Pass,
			detail: "attempts without an answer were given up after 4 s to 4.10 s (1 call)"},
		{name: "the last was cut by the end of the call", history: get().Left(0, 4*s).Left(5*s, 100*ms), want: assert.Pass,
			detail: "attempts without an answer were given up after 100 ms to 4 s (1 call)"},
		{name: "half an answer, then given up", history: get().Left(0, 5*s).With(func(e *journal.Entry) { e.Status = 200 }), want: assert.Pass,
			detail: "attempts without an answer were given up after 5 s to 5 s (1 call)"},
		{name: "none", history: get().Attempt(0, 0, 0).With(open), run: &assert.Run{Until: 35 * s, Noise: calm}, want: assert.Fail, witness: []uint64{1},
			detail: "attempt 1 was still open after 35 s; the contract ends each after 30 s"},
		{name: "a minute", history: get().Left(0, 60*s), want: assert.Fail, witness: []uint64{1},
			detail: "attempt 1 was given up only after 1m; the contract ends each after 30 s"},
		{name: "a minute, watched for half of it", history: get().Attempt(0, 0, 0).With(open), run: &assert.Run{Until: 30 * s, Noise: calm}, want: assert.Inconclusive,
			detail: "no attempt was seen to stay open for 30 s, but some were open when the watch ended (1 call)"},
		{name: "a trickle of an answer is waited for", history: get().Attempt(0, 50*s, 200).With(faulty), want: assert.Fail, witness: []uint64{1},
			detail: "attempt 1 was waited for for 50 s; the contract ends each after 30 s"},
		{name: "a long poll", history: get().Attempt(0, 50*s, 200), want: assert.NotExercised, detail: none},
		{name: "a large upload", history: post().Left(0, 50*s).With(func(e *journal.Entry) { e.BodyLen = 2 << 20 }), want: assert.Pass,
			detail: "attempts without an answer were given up after 50 s to 50 s (1 call)"},
		{name: "too hasty", history: get().Left(0, 200*ms).Left(s, 4*s), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 1 was given up after 200 ms and sent again; the contract gives the server 1 s at least"},
		{name: "hasty, but not sent again", history: get().Left(0, 200*ms), want: assert.Pass,
			detail: "attempts without an answer were given up after 200 ms to 200 ms (1 call)"},
		{name: "hasty, as agreed", clause: assert.AttemptTimeout{Min: 100 * ms}, history: get().Left(0, 200*ms).Left(s, 4*s), want: assert.Pass,
			detail: "attempts without an answer were given up after 200 ms to 4 s (1 call)"},
		{name: "an answer that is not read to its end", history: get().Left(0, ms).With(func(e *journal.Entry) { e.Status = 503 }).Attempt(s, ms, 200),
			want: assert.NotExercised, detail: none},
		{name: "a copy won", history: get().Left(0, 700*ms).Attempt(500*ms, 200*ms, 200), want: assert.Pass,
			detail: "attempts without an answer were given up after 700 ms to 700 ms (1 call)"},
		{name: "the caller cancelled", history: get().Left(0, 200*ms), run: &assert.Run{Ended: true, Noise: calm, Cancelled: 200 * ms}, want: assert.NotExercised, detail: none},
		{name: "a starved machine, late", history: get().Left(0, 60*s), run: &assert.Run{Ended: true, Noise: starved}, want: assert.Inconclusive,
			detail: "attempt 1 was given up only after 1m; the contract ends each after 30 s; but the canary was late by up to 20 s, so the machine itself may have been"},
		{name: "a starved machine, early", history: get().Left(0, 200*ms).Left(s, 4*s), run: &assert.Run{Ended: true, Noise: starved}, want: assert.Inconclusive,
			detail: "attempt 1 was given up after 200 ms and sent again; the contract gives the server 1 s at least; but the canary was late by up to 20 s, so the machine itself may have been"},
		{name: "a scenario that never hangs", history: get().Retries(0, 503, s), want: assert.NotExercised, detail: none},
	})
}
