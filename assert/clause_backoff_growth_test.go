package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestBackoffGrowth(t *testing.T) {
	same := func(n int, waits ...time.Duration) *history.Builder {
		return clients(n, func(_ int, h *history.Builder) { h.Retries(0, 503, waits...) })
	}
	declared := assert.BackoffGrowth{Curve: assert.Delays{
		Initial: 20 * ms, Multiplier: 2, Max: 320 * ms, Jitter: assert.Jitter{Form: assert.JitterProportional, Proportion: 0.2},
	}}
	capped := assert.BackoffGrowth{Curve: assert.Delays{Max: 60 * s}}
	check(t, assert.BackoffGrowth{}, []row{
		{name: "doubles", history: same(10, s, 2*s, 4*s),
			want: assert.Pass, detail: "the waits grow 2.0-fold from retry to retry: 1 s, 2 s, 4 s (10 calls)"},
		{name: "doubles, in one long call", history: same(1, s, 2*s, 4*s, 8*s, 16*s),
			want: assert.Pass, detail: "the waits grow 2.0-fold from retry to retry: 1 s, 2 s, 4 s, 8 s, 16 s (1 call)"},
		{name: "linear", history: same(5, s, 2*s, 3*s, 4*s, 5*s, 6*s, 7*s, 8*s, 9*s, 10*s, 10*s, 10*s),
			want: assert.Pass, detail: "the waits grow 2.0-fold from retry to retry: 1 s, 2 s, 3 s, 4 s, 5 s (5 calls)"},
		{name: "Fibonacci", history: same(5, s, s, 2*s, 3*s, 5*s),
			want: assert.Pass, detail: "the waits grow 1.4-fold from retry to retry: 1 s, 1 s, 2 s, 3 s, 5 s (5 calls)"},
		{name: "polynomial with falling ratios", history: same(5, s, 16*s, 81*s, 256*s),
			want: assert.Pass, detail: "the waits grow 16.0-fold from retry to retry: 1 s, 16 s, 1m21s, 4m16s (5 calls)"},
		{name: "starts with 2^n-1", history: same(5, s, 3*s, 7*s),
			want: assert.Pass, detail: "the waits grow 3.0-fold from retry to retry: 1 s, 3 s, 7 s (5 calls)"},
		{name: "first retry free", history: same(10, ms/2, s, 2*s, 4*s),
			want: assert.Pass, detail: "the waits grow 2.0-fold from retry to retry: 1 s, 2 s, 4 s (10 calls)"},
		{name: "first retry free, then constant", history: same(10, ms/2, s, s, s),
			want: assert.Fail, detail: "the waits do not grow: 1 s, 1 s, 1 s (mean of 10 calls); the contract wants each to be 1.3 times the one before at least", witness: []uint64{1, 11, 21, 31, 41}},
		{name: "reaches its cap at the second retry", history: same(10, 20*s, 30*s, 30*s, 30*s, 30*s),
			want: assert.Pass, detail: "the waits grow 1.5-fold from retry to retry: 20 s, 30 s, 30 s, 30 s, 30 s (10 calls)"},
		{name: "two retries that double", history: same(10, 300*ms, 600*ms),
			want: assert.Pass, detail: "the waits grow 2.0-fold from retry to retry: 300 ms, 600 ms (10 calls)"},

		{name: "constant", history: same(5, s, s, s),
			want: assert.Fail, detail: "the waits do not grow: 1 s, 1 s, 1 s (mean of 5 calls); the contract wants each to be 1.3 times the one before at least", witness: []uint64{1, 6, 11, 16}},
		{name: "25 ms for ever", history: same(1, repeat(300, 25*ms)...),
			want: assert.Fail, detail: "the waits do not grow: 25 ms, 25 ms, 25 ms, 25 ms, 25 ms (mean of 1 call); the contract wants each to be 1.3 times the one before at least", witness: []uint64{1, 2, 3, 4, 5, 6}},
		{name: "at once, three times", history: same(3, ms/2, ms/2, ms/2),
			want: assert.Fail, detail: "the waits do not grow: 0.5 ms, 0.5 ms, 0.5 ms (mean of 3 calls); the contract wants each to be 1.3 times the one before at least", witness: []uint64{1, 4, 7, 10}},
		{name: "constant far below the cap", clause: capped, history: same(10, 5*s, 5*s, 5*s, 5*s),
			want: assert.Fail, detail: "the waits do not grow: 5 s, 5 s, 5 s, 5 s (mean of 10 calls); the contract wants each to be 1.3 times the one before at least", witness: []uint64{1, 11, 21, 31, 41}},
		{name: "constant at the cap", clause: capped, history: same(10, 60*s, 60*s, 60*s),
			want: assert.NotExercised, detail: "the waits are at their agreed maximum of 1m from the start"},

		{name: "20 ms doubled, seen through a busy machine (ofelia 826)", history: same(1, 36040*time.Microsecond, 46340*time.Microsecond),
			want: assert.Inconclusive, detail: "two retries a call do not show whether the waits grow: 36 ms, 46 ms (mean of 1 call); calls with three retries would"},
		{name: "the same in ten calls with three retries", history: same(10, 36040*time.Microsecond, 46340*time.Microsecond, 50*ms),
			want: assert.Inconclusive, detail: "waits this short do not show whether they grow: 36 ms, 46 ms, 50 ms (mean of 10 calls), of which 20 ms may be the machine's lateness"},
		{name: "constant in four calls", history: same(4, s, s, s),
			want: assert.Inconclusive, detail: "4 calls with 3 retries do not show whether the waits grow: 1 s, 1 s, 1 s (mean, 1.00-fold from retry to retry); 20 calls with three retries, or half as many with four, would"},
		{name: "two equal waits", history: same(20, s, s),
			want: assert.Inconclusive, detail: "two retries a call do not show whether the waits grow: 1 s, 1 s (mean of 20 calls); calls with three retries would"},
		{name: "full jitter whose second wait is shorter", history: history.New().Retries(0, 503, 900*ms, 300*ms, 2*s),
			want: assert.Inconclusive, detail: "1 call with 3 retries do not show whether the waits grow: 900 ms, 300 ms, 2 s (mean, 1.49-fold from retry to retry); 20 calls with three retries, or half as many with four, would"},

		{name: "constant where none is asked for", clause: assert.BackoffGrowth{Min: 1}, history: same(10, s, s, s),
			want: assert.Pass, detail: "the waits do not shrink from retry to retry: 1 s, 1 s, 1 s (10 calls)"},
		{name: "at once where none is asked for", clause: assert.BackoffGrowth{Min: 1}, history: same(10, 5*ms, 5*ms, 5*ms),
			want: assert.Pass, detail: "the waits do not shrink from retry to retry: 5 ms, 5 ms, 5 ms (10 calls)"},
		{name: "shrinks where no growth is asked for", clause: assert.BackoffGrowth{Min: 1}, history: same(10, 4*s, 2*s, s),
			want: assert.Fail, detail: "the waits shrink to 0.50 of the one before from retry to retry: 4 s, 2 s, 1 s (mean of 10 calls); the contract wants none to be shorter than the one before on average", witness: []uint64{1, 11, 21, 31}},
		{name: "shrinks late where no growth is asked for", clause: assert.BackoffGrowth{Min: 1}, history: same(10, s, s, 500*ms, 250*ms),
			want: assert.Fail, detail: "the waits shrink to 0.62 of the one before from retry to retry: 1 s, 1 s, 500 ms, 250 ms (mean of 10 calls); the contract wants none to be shorter than the one before on average", witness: []uint64{1, 11, 21, 31, 41}},
		{name: "grows too little", history: same(10, s, 1100*ms, 1210*ms),
			want: assert.Fail, detail: "the waits grow only 1.10-fold from retry to retry: 1 s, 1.10 s, 1.21 s (mean of 10 calls); the contract wants each to be 1.3 times the one before at least", witness: []uint64{1, 11, 21, 31}},
		{name: "exactly at the border", history: same(10, s, 1300*ms, 1690*ms),
			want: assert.Pass, detail: "the waits grow 1.3-fold from retry to retry: 1 s, 1.30 s, 1.69 s (10 calls)"},
		{name: "just below the border", history: same(10, s, 1280*ms, 1638*ms),
			want: assert.Inconclusive, detail: "the waits grow 1.28-fold from retry to retry: 1 s, 1.28 s, 1.64 s (mean of 10 calls); too close to the 1.3-fold of the contract to call it less"},

		{name: "falls below the agreed curve now and then", clause: declared,
			history: same(1, 20*ms, 40*ms, 80*ms, 160*ms, 320*ms, 300*ms, 20*ms, 310*ms),
			want:    assert.Fail, detail: "attempt 8 came after a wait of 20 ms; the agreed backoff has grown to 256 ms there", witness: []uint64{7, 8}},
		{name: "keeps to the agreed curve", clause: declared, history: same(5, 17*ms, 33*ms, 64*ms, 150*ms, 300*ms, 256*ms),
			want: assert.Pass, detail: "the waits grow 1.9-fold from retry to retry: 17 ms, 33 ms, 64 ms, 150 ms, 300 ms (5 calls)"},
		{name: "the delay overflows", clause: assert.BackoffGrowth{Curve: assert.Delays{Initial: ms, Multiplier: 2, Max: 20 * ms, Jitter: assert.Jitter{Form: assert.JitterNone}}},
			history: same(1, append(append([]time.Duration{ms, 2 * ms, 4 * ms, 8 * ms, 16 * ms}, repeat(38, 20*ms)...), repeat(20, ms/2)...)...),
			want:    assert.Fail, detail: "attempt 45 came after a wait of 0.5 ms; the agreed backoff has grown to 20 ms there", witness: []uint64{44, 45}},

		{name: "directed waits are the server's", history: clients(10, func(_ int, h *history.Builder) {
			at := time.Duration(0)
			for range 4 {
				h.Attempt(at, ms, 429).RetryAfter("2")
				at += 2*s + ms
			}
		}), want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
		{name: "a direction in between ends what counts", history: clients(10, func(_ int, h *history.Builder) {
			h.Retries(0, 503, s, 2*s).RetryAfter("1").Retries(5*s, 503, s, s, s)
		}), want: assert.Pass, detail: "the waits grow 2.0-fold from retry to retry: 1 s, 2 s (10 calls)"},
		{name: "one retry", history: same(10, s),
			want: assert.NotExercised, detail: "every call was retried once only (10 calls); growth shows from two waits on"},
		{name: "no retry", history: same(10),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
	})
}
