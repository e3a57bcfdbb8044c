package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The first row is 0.1^3/3!; the sum of nothing counts as a nanosecond.
func TestShortChance(t *testing.T) {
	for _, tt := range []struct {
		n    int
		sum  time.Duration
		want float64
	}{
		{3, 5 * time.Millisecond, 1.667e-4},
		{3, 0, 1.333e-24},
		{10, 90 * time.Millisecond, 9.84e-5},
		{20, 250 * time.Millisecond, 3.92e-5},
		{2, time.Second, 1},
		{0, 0, 1},
	} {
		got := ShortChance(tt.n, tt.sum, 50*time.Millisecond)
		if math.Abs(got-tt.want) > 0.02*tt.want {
			t.Errorf("%d waits adding up to %v: chance %.3g, want %.3g", tt.n, tt.sum, got, tt.want)
		}
	}
}

// EqualChance is compared with simulated order statistics.
func TestEqualChance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials = 20_000
	for _, tt := range []struct {
		n          int
		resolution time.Duration
	}{{5, 500}, {10, 500}, {10, 700}, {20, 800}, {3, 300}} {
		hits := 0
		for range trials {
			gaps := make([]time.Duration, tt.n)
			for i := range gaps {
				gaps[i] = time.Duration(r.IntN(1000))
			}
			slices.Sort(gaps)
			if trimmed(gaps) <= tt.resolution {
				hits++
			}
		}
		got, want := EqualChance(tt.n, 1000, tt.resolution), float64(hits)/trials
		if math.Abs(got-want) > 4*math.Sqrt(want/trials)+0.001 {
			t.Errorf("%d waits within %d of 1000: chance %.4f, simulated %.4f", tt.n, tt.resolution, got, want)
		}
	}
	if got := EqualChance(10, 100, 100); got != 1 {
		t.Errorf("a resolution as wide as the jitter decides nothing: chance %v, want 1", got)
	}
}
