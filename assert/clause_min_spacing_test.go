package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestMinSpacing(t *testing.T) {
	floor := assert.MinSpacing{Min: 50 * ms}
	check(t, assert.MinSpacing{}, []row{
		{name: "waits", history: history.New().Retries(0, 503, s, 2*s),
			want: assert.Pass, detail: "every retry waited, 1 s at least (1 call)"},
		{name: "three retries back to back", history: history.New().Retries(0, 503, 300*time.Microsecond, 400*time.Microsecond, 300*time.Microsecond),
			want: assert.Fail, detail: "a sent attempts 2 to 4 at once, 0.3 ms after the failure before on average; the contract wants a wait before each", witness: []uint64{1, 2, 3, 4}},
		{name: "loops on 400 at once", history: history.New().Client("phone").Retries(0, 400, repeat(200, 2*ms)...),
			want: assert.Fail, detail: "phone sent attempts 2 to 201 at once, 2 ms after the failure before on average; the contract wants a wait before each", witness: []uint64{1, 2, 3, 4}},
		{name: "the deadline passed and the rest was fired off", history: history.New().Retries(0, 503, append([]time.Duration{s}, repeat(5, ms/5)...)...),
			want: assert.Fail, detail: "a sent attempts 3 to 7 at once, 0.2 ms after the failure before on average; the contract wants a wait before each", witness: []uint64{2, 3, 4, 5}},
		{name: "the delay overflows at the 44th retry", history: history.New().Retries(0, 503, append(repeat(43, 200*ms), repeat(37, ms/2)...)...),
			want: assert.Fail, detail: "a sent attempts 45 to 81 at once, 0.5 ms after the failure before on average; the contract wants a wait before each", witness: []uint64{44, 45, 46, 47}},
		{name: "one retry in the same instant", history: history.New().Retries(0, 503, 0),
			want: assert.Fail, detail: "a sent attempt 2 at once, 0 ms after the failure before; the contract wants a wait", witness: []uint64{1, 2}},
		{name: "first retry at once, in five calls", history: clients(5, func(_ int, h *history.Builder) { h.Retries(0, 503, ms, s, 2*s) }),
			want: assert.Fail, detail: "the first retry came 1 ms after the failure (median of 5 calls); the contract wants a wait, and even waits drawn between 0 and 50 ms are that short less than once in 10,000 runs", witness: []uint64{1, 6, 2, 7, 3, 8}},
		{name: "first retry at once, where that is allowed", clause: assert.MinSpacing{FirstFree: true},
			history: clients(5, func(_ int, h *history.Builder) { h.Retries(0, 503, ms, s, 2*s) }),
			want:    assert.Pass, detail: "every retry waited, 1 s at least (5 calls)"},
		{name: "first retry at once, but in one call only", history: history.New().Retries(0, 503, ms, s, 2*s),
			want: assert.Inconclusive, detail: "the first retry came 1 ms after the failure (median of 1 call), which jitter can do by chance; 4 calls would tell"},
		{name: "slow to come back at once", history: clients(3, func(_ int, h *history.Builder) { h.Retries(0, 503, 3*ms, 2*ms, 3*ms) }),
			want: assert.Fail, detail: "retries came 3 ms after the failure (median of 9); the contract wants a wait, and even waits drawn between 0 and 50 ms are that short less than once in 10,000 runs", witness: []uint64{1, 4, 4, 7, 7, 10}},
		{name: "full jitter comes close to zero now and then", history: clients(4, func(i int, h *history.Builder) {
			h.Retries(0, 503, []time.Duration{3 * ms, 61 * ms, 94 * ms, 44 * ms}[i])
		}), want: assert.Pass, detail: "every retry waited, 3 ms at least (4 calls)"},

		{name: "49 ms for 50", clause: floor, history: history.New().Retries(0, 503, 49*ms),
			want: assert.Pass, detail: "every retry waited, 49 ms at least (1 call)"},
		{name: "47.5 ms for 50, the whole tolerance", clause: floor, history: history.New().Retries(0, 503, 47500*time.Microsecond),
			want: assert.Pass, detail: "every retry waited, 48 ms at least (1 call)"},
		{name: "47 ms for 50", clause: floor, history: clients(3, func(i int, h *history.Builder) { h.Retries(0, 503, 50*ms-ns(i)*3*ms/2) }),
			want: assert.Fail, detail: "attempt 2 came 47 ms after a 503; the contract says not before 50 ms (c2; 1 of 3 calls)", witness: []uint64{3, 4}},
		{name: "the configured base is not in force", clause: assert.MinSpacing{Min: 1500 * ms}, history: history.New().Retries(0, 503, 256*ms, 512*ms),
			want: assert.Fail, detail: "attempt 2 came 256 ms after a 503; the contract says not before 1.50 s", witness: []uint64{1, 2}},
		{name: "after a reset", clause: floor, history: history.New().Cut(0, ms).Attempt(5*ms, ms, 200),
			want: assert.Fail, detail: "attempt 2 came 4 ms after a connection that broke without an answer; the contract says not before 50 ms", witness: []uint64{1, 2}},
		{name: "an agreed base of 1 s with full jitter, waits of 100 ms", clause: assert.MinSpacing{Base: s},
			history: clients(10, func(_ int, h *history.Builder) { h.Retries(0, 503, 100*ms) }),
			want:    assert.Fail, detail: "the first retry came 100 ms after the failure (median of 10 calls); the contract wants a wait, and even waits drawn between 0 and 1 s are that short less than once in 10,000 runs", witness: []uint64{1, 11, 2, 12, 3, 13}},
		{name: "the same in three calls", clause: assert.MinSpacing{Base: s},
			history: clients(3, func(_ int, h *history.Builder) { h.Retries(0, 503, 100*ms) }),
			want:    assert.Inconclusive, detail: "the first retry came 100 ms after the failure (median of 3 calls), which jitter can do by chance; 9 calls would tell"},
		{name: "waits no longer than the machine is late by", history: history.New().Retries(0, 503, 20*ms),
			run:  &assert.Run{Ended: true, Noise: assert.Noise{Slices: []assert.Slice{{P50: 10 * ms, P99: 20 * ms, Max: 30 * ms, Samples: 99}}}},
			want: assert.Inconclusive, detail: "the first retry came 20 ms after the failure (median of 1 call), of which the machine, usually late by 10 ms, may have made a part; a quieter one would tell"},
		{name: "the machine was late before and after them", history: history.New().Retries(10*s, 503, 20*ms),
			run: &assert.Run{Ended: true, Noise: assert.Noise{Slices: []assert.Slice{
				{P50: 10 * ms, P99: 20 * ms, Max: 30 * ms, Samples: 99}, {From: 5 * s, P50: ms, P99: 2 * ms, Max: 3 * ms, Samples: 99},
				{From: 15 * s, P50: 10 * ms, P99: 20 * ms, Max: 30 * ms, Samples: 99},
			}}},
			want: assert.Pass, detail: "every retry waited, 20 ms at least (1 call)"},

		{name: "told to come at once", history: history.New().Attempt(0, ms, 429).RetryAfter("0").Attempt(2*ms, ms, 200),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
		{name: "a malformed Retry-After directs nothing", clause: floor, history: history.New().Attempt(0, ms, 429).RetryAfter("-5").Attempt(2*ms, ms, 200),
			want: assert.Fail, detail: "attempt 2 came 1 ms after a 429 with Retry-After: -5; the contract says not before 50 ms", witness: []uint64{1, 2}},
		{name: "the first 408 may be repeated at once", clause: floor, history: history.New().Retries(0, 408, ms, s),
			want: assert.Pass, detail: "every retry waited, 1 s at least (1 call)"},
		{name: "the second may not", clause: floor, history: history.New().Retries(0, 408, ms, ms),
			want: assert.Fail, detail: "attempt 3 came 1 ms after a 408; the contract says not before 50 ms", witness: []uint64{2, 3}},
		{name: "a refreshed token is no retry", clause: floor, history: history.New().Auth(1).Attempt(0, ms, 401).Auth(2).Attempt(2*ms, ms, 200),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
		{name: "a redirect is none", clause: floor, history: history.New().Attempt(0, ms, 307).Attempt(2*ms, ms, 200),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
		{name: "attempts that overlap show no wait", clause: floor, history: history.New().Attempt(0, s, 503).Attempt(500*ms, ms, 200),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
		{name: "never retries", history: history.New().Attempt(0, ms, 503),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
	})
}
