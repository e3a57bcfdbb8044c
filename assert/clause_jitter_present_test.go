package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestJitterPresent(t *testing.T) {
	// alike are n clients whose waits differ by a millisecond from one to the next.
	alike := func(n int, waits ...time.Duration) *history.Builder {
		return clients(n, func(i int, h *history.Builder) {
			mine := make([]time.Duration, len(waits))
			for k, w := range waits {
				mine[k] = w + ns(i)*ms/4
			}
			h.Retries(0, 503, mine...)
		})
	}
	starved := assert.Noise{Slices: []assert.Slice{{P99: 400 * ms, Max: 5 * s}}}
	staggered := clients(20, func(i int, h *history.Builder) { h.Retries(ns(i)*20*ms, 503, s, 2*s, 4*s) })
	loaded := assert.Noise{Slices: []assert.Slice{{P99: 200 * ms, Max: 300 * ms}}}
	added := func(d time.Duration) assert.JitterPresent {
		return assert.JitterPresent{Curve: assert.Delays{Initial: s, Multiplier: 2, Jitter: assert.Jitter{Form: assert.JitterAdditive, Add: d}}}
	}
	evenly := func(n int, step time.Duration, waits ...time.Duration) *history.Builder {
		return clients(n, func(i int, h *history.Builder) {
			mine := make([]time.Duration, len(waits))
			for k, w := range waits {
				mine[k] = w + ns(i)*step
			}
			h.Retries(0, 503, mine...)
		})
	}
	check(t, assert.JitterPresent{}, []row{
		{name: "20 ms added as agreed", clause: added(20 * ms), history: evenly(10, 2*ms, s, 2*s, 4*s),
			want: assert.Inconclusive, detail: "14 ms apart around 1.01 s, 14 ms around 2.01 s, 14 ms around 4.01 s: the agreed jitter (additive 20ms) is no more than the 25 ms by which this machine itself may draw waits apart"},
		{name: "nothing added where 20 ms are agreed", clause: added(20 * ms), history: evenly(10, 0, s, 2*s, 4*s),
			want: assert.Inconclusive, detail: "0 ms apart around 1 s, 0 ms around 2 s, 0 ms around 4 s: the agreed jitter (additive 20ms) is no more than the 25 ms by which this machine itself may draw waits apart"},
		{name: "30 ms added as agreed", clause: added(30 * ms), history: evenly(10, 3*ms, s, 2*s, 4*s),
			want: assert.Inconclusive, detail: "21 ms apart around 1.01 s, 21 ms around 2.01 s, 21 ms around 4.01 s, which jitter of the agreed form (additive 30ms) could show by chance; wider jitter or 71 calls would tell"},
		{name: "100 ms added as agreed to long waits", clause: added(100 * ms), history: evenly(10, 10*ms, 4*s, 8*s, 16*s),
			want: assert.Pass, detail: "the waits before attempt 2 lie 70 ms apart around 4.04 s (10 calls)"},
		{name: "nothing added where 100 ms are agreed", clause: added(100 * ms), history: alike(10, s, 2*s, 4*s),
			want: assert.Fail, detail: "10 calls waited alike, 1.8 ms apart around 1.00 s, 1.8 ms around 2.00 s, 1.8 ms around 4.00 s: clients that fail together come back together; the contract wants waits to differ", witness: []uint64{1, 11, 8, 18}},
		{name: "few made the retry that differs", history: clients(12, func(i int, h *history.Builder) {
			waits := []time.Duration{s + ns(i)*3*ms}
			if i < 3 {
				waits = append(waits, s+ns(i)*700*ms)
			}
			h.Retries(0, 503, waits...)
		}), want: assert.Inconclusive, detail: "27 ms apart around 1.02 s, 700 ms around 1.70 s: only 3 calls made retry 2, too few to tell; 5 would"},
		{name: "1, 2, 4 s to the millisecond", history: alike(10, s, 2*s, 4*s),
			want: assert.Fail, detail: "10 calls waited alike, 1.8 ms apart around 1.00 s, 1.8 ms around 2.00 s, 1.8 ms around 4.00 s: clients that fail together come back together; the contract wants waits to differ", witness: []uint64{1, 11, 8, 18}},
		{name: "only the first waits differ, as clients that load make them", history: clients(20, func(i int, h *history.Builder) {
			h.Retries(0, 503, s+ns(i)*15*ms, 2*s+ns(i)*ms/4, 4*s+ns(i)*ms/4)
		}),
			want: assert.Inconclusive, detail: "240 ms apart around 1.14 s, 4 ms around 2.00 s, 4 ms around 4.00 s: only the first waits lie apart, which may be what the clients load before they retry, and no jitter"},
		{name: "the first waits differ by more than half", history: clients(20, func(i int, h *history.Builder) {
			h.Retries(0, 503, s+ns(i)*60*ms, 2*s, 4*s)
		}), want: assert.Pass, detail: "the waits before attempt 2 lie 960 ms apart around 1.57 s (20 calls)"},
		{name: "the first waits differ, and one later does not show more", history: clients(20, func(i int, h *history.Builder) {
			h.Retries(0, 503, s+ns(i)*15*ms, 2*s)
		}), want: assert.Pass, detail: "the waits before attempt 2 lie 240 ms apart around 1.14 s (20 calls)"},
		{name: "one retry after exactly 1 s", history: alike(10, s),
			want: assert.Fail, detail: "10 calls waited alike, 1.8 ms apart around 1.00 s: clients that fail together come back together; the contract wants waits to differ", witness: []uint64{1, 11, 8, 18}},
		{name: "full jitter", history: clients(10, func(i int, h *history.Builder) { h.Retries(0, 503, ns(i+1)*100*ms) }),
			want: assert.Pass, detail: "the waits before attempt 2 lie 700 ms apart around 550 ms (10 calls)"},
		{name: "first wait fixed, later ones not", history: clients(10, func(i int, h *history.Builder) {
			h.Retries(0, 503, 100*ms, 100*ms+ns(i)*10*ms)
		}), want: assert.Pass, detail: "the waits before attempt 3 lie 70 ms apart around 145 ms (10 calls)"},
		{name: "up to 100 ms on 1 s and on 2 s", history: clients(10, func(i int, h *history.Builder) {
			h.Retries(0, 503, s+ns(i)*10*ms, 2*s+ns(i)*10*ms)
		}), want: assert.Pass, detail: "the waits before attempt 2 lie 70 ms apart around 1.04 s (10 calls)"},
		{name: "up to 60 ms on 1 s", history: clients(10, func(i int, h *history.Builder) {
			h.Retries(0, 503, s+ns(i)*6*ms)
		}), want: assert.Inconclusive, detail: "42 ms apart around 1.03 s: more than the machine explains, less than the 5 % that count as jitter"},
		{name: "a fifth is late, the rest alike", history: clients(12, func(i int, h *history.Builder) {
			h.Retries(0, 503, s+ns(i/10)*300*ms, 2*s, 4*s)
		}), want: assert.Fail, detail: "12 calls waited alike, 0 ms apart around 1 s, 0 ms around 2 s, 0 ms around 4 s: clients that fail together come back together; the contract wants waits to differ", witness: []uint64{1, 13, 10, 22}},
		{name: "three calls", history: alike(3, s, 2*s, 4*s),
			want: assert.Inconclusive, detail: "3 calls cannot show whether the waits differ; 10 would"},
		{name: "too short to tell", history: alike(10, 30*ms),
			want: assert.Inconclusive, detail: "1.8 ms apart around 31 ms, which jitter of 10 % could show by chance; longer waits or 17 calls would tell"},
		{name: "a starved machine", history: alike(20, 10*s, 20*s, 40*s), run: &assert.Run{Ended: true, Noise: starved},
			want: assert.Inconclusive, detail: "4 ms apart around 10.0 s, 4 ms around 20.0 s, 4 ms around 40.0 s; but the canary was late by up to 5 s, and a machine that stalls so long draws waits together"},
		{name: "a stall draws no waits together that began apart", history: staggered, run: &assert.Run{Ended: true, Noise: loaded},
			want: assert.Fail, detail: "20 calls waited alike, 0 ms apart around 1 s, 0 ms around 2 s, 0 ms around 4 s: clients that fail together come back together; the contract wants waits to differ", witness: []uint64{1, 21, 17, 37}},
		{name: "it could have if they began together", history: alike(20, s, 2*s, 4*s), run: &assert.Run{Ended: true, Noise: loaded},
			want: assert.Inconclusive, detail: "4 ms apart around 1.00 s, 4 ms around 2.00 s, 4 ms around 4.00 s; but the canary was late by up to 300 ms, and a machine that stalls so long draws waits together"},
		{name: "no canary", history: alike(10, s, 2*s, 4*s), run: &assert.Run{Ended: true},
			want: assert.Inconclusive, detail: "1.8 ms apart around 1.00 s, 1.8 ms around 2.00 s, 1.8 ms around 4.00 s; but no canary ran, so the machine itself may have been late"},
		{name: "at once", history: alike(10, 0, 0, 0),
			want: assert.NotExercised, detail: "the client retries at once (1.1 ms on average), so there is no wait that could differ"},
		{name: "waits as told", history: clients(10, func(_ int, h *history.Builder) { h.Attempt(0, ms, 429).RetryAfter("2").Attempt(2*s+ms, ms, 200) }),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
		{name: "never retries", history: alike(10),
			want: assert.NotExercised, detail: "no call was retried after a wait of the client's own choice"},
	})
}
