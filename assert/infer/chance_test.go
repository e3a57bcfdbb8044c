package infer

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The first row is 0.1^3/3!; the sum of nothing counts as a nanosecond.
func TestSumChance(t *testing.T) {
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
		got := SumChance(tt.n, tt.sum, 50*time.Millisecond)
		if math.Abs(got-tt.want) > 0.02*tt.want {
			t.Errorf("%d waits adding up to %v: chance %.3g, want %.3g", tt.n, tt.sum, got, tt.want)
		}
	}
}

// A client that keeps full jitter must be called too quick no more often than the bound says, however small.
func TestShortChanceIsABound(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const trials = 20_000
	for _, n := range []int{1, 2, 3, 5, 10} {
		var below [3]int
		levels := [3]float64{0.1, 0.01, 0.001}
		for range trials {
			waits := make([]time.Duration, n)
			for i := range waits {
				waits[i] = time.Duration(r.Int64N(int64(time.Second)))
			}
			slices.Sort(waits)
			for i, level := range levels {
				if ShortChance(waits, time.Second) < level {
					below[i]++
				}
			}
		}
		for i, level := range levels {
			if got := float64(below[i]) / trials; got > level+4*math.Sqrt(level/trials) {
				t.Errorf("%d waits: the bound was below %v in %v of all runs", n, level, got)
			}
		}
	}
}

// One wait of many that the machine stretched must not hide that the others were none.
func TestShortChanceForgivesTheMachine(t *testing.T) {
	waits := append(slices.Repeat([]time.Duration{2 * time.Millisecond}, 9), 100*time.Millisecond)
	if got := ShortChance(waits, 50*time.Millisecond); got > 1e-4 {
		t.Errorf("nine waits of 2 ms and one of 100: chance %.2g", got)
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
