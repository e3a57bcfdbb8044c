package assert_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// drawn is a history of n clients whose waits are drawn between lo and hi of 1, 2, 4 s.
func drawn(n int, seed uint64, lo, hi float64) *history.Builder {
	r := rand.New(rand.NewPCG(seed, 7))
	return clients(n, func(_ int, h *history.Builder) {
		waits := make([]time.Duration, 3)
		for k := range waits {
			waits[k] = time.Duration(float64(s<<k) * (lo + (hi-lo)*r.Float64()))
		}
		h.Retries(0, 503, waits...)
	})
}

func TestJitterRange(t *testing.T) {
	form := func(j assert.Jitter) assert.Clause {
		return assert.JitterRange{Curve: assert.Delays{Initial: s, Multiplier: 2, Max: 30 * s, Jitter: j}}
	}
	full, equal := form(assert.Jitter{Form: assert.JitterFull}), form(assert.Jitter{Form: assert.JitterEqual})
	fifth := form(assert.Jitter{Form: assert.JitterProportional, Proportion: 0.2})
	starved := assert.Noise{Slices: []assert.Slice{{P99: 400 * ms, Max: 5 * s}}}
	for _, c := range []struct {
		name   string
		clause assert.Clause
		h      *history.Builder
		run    *assert.Run
		want   assert.Verdict
		detail string // part of it
	}{
		{"full, as agreed", full, drawn(20, 1, 0, 1), nil, assert.Pass, "agreed is full"},
		{"equal, as agreed", equal, drawn(20, 1, 0.5, 1), nil, assert.Pass, "agreed is equal"},
		{"proportional, as agreed", fifth, drawn(20, 1, 0.8, 1.2), nil, assert.Pass, "agreed is proportional 0.2"},
		{"equal where full is agreed", full, drawn(20, 1, 0.5, 1), nil, assert.Fail, "agreed is full, which shows so little spread less than once in 10,000 runs"},
		{"10 % where full is agreed", full, drawn(10, 1, 0.9, 1), nil, assert.Fail, "agreed is full, which shows so little spread"},
		{"full where equal is agreed", equal, drawn(20, 1, 0, 1), nil, assert.Fail, "the contract says 500 ms to 1 s (equal jitter)"},
		{"full where a fifth is agreed", fifth, drawn(20, 1, 0, 1), nil, assert.Fail, "(proportional 0.2 jitter)"},
		{"half as much again where full is agreed", full, drawn(20, 1, 1.4, 1.5), nil, assert.Fail, "the contract says 0 ms to 1 s (full jitter)"},
		{"the same on a starved machine", full, drawn(20, 1, 1.4, 1.5), &assert.Run{Ended: true, Noise: starved}, assert.Inconclusive, "the machine itself may have been"},
		{"three calls", full, drawn(3, 1, 0, 1), nil, assert.Inconclusive, "3 calls cannot show the form, 10 would"},
		{"no retry", full, history.New().Attempt(0, ms, 503), nil, assert.NotExercised, "no call was retried"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.clause.Check(grouped(c.h, c.run))
			if got.Verdict != c.want || !strings.Contains(got.Detail, c.detail) || (got.Verdict == assert.Fail) != (len(got.Witness) > 0) {
				t.Errorf("%s: %s, %d witnesses", got.Verdict, got.Detail, len(got.Witness))
			}
		})
	}
}

// A client that draws as agreed is not failed by chance.
func TestJitterRangeIsNoFalseAlarm(t *testing.T) {
	clause := assert.JitterRange{Curve: assert.Delays{Initial: s, Multiplier: 2, Max: 30 * s, Jitter: assert.Jitter{Form: assert.JitterFull}}}
	for seed := range uint64(1000) {
		if got := clause.Check(grouped(drawn(20, seed, 0, 1), nil)); got.Verdict == assert.Fail {
			t.Errorf("seed %d: %s", seed, got.Detail)
		}
	}
}
