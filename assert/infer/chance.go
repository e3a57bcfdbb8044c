package infer

import (
	"math"
	"slices"
	"time"
)

// SumChance bounds the chance that n waits, each drawn evenly between 0 and least or more, add up to sum or less. That is
// what full jitter, the shortest lawful waits, gives a client whose smallest delay is least. The bound is the volume of a
// simplex, (sum/least)^n / n!, so it needs no approximation, however few the waits.
func SumChance(n int, sum, least time.Duration) float64 {
	return math.Exp(min(0, lnSum(n, sum, least)))
}

func lnSum(n int, sum, least time.Duration) float64 {
	if n == 0 {
		return 0
	}
	faculty, _ := math.Lgamma(float64(n + 1))
	return float64(n)*math.Log(float64(max(sum, 1))/float64(least)) - faculty
}

// ShortChance bounds the chance that such waits are as short as these (sorted, the shortest first). It looks at their sum,
// at the sums without the longest few, up to 15 %, which a slow machine may have stretched, and at how many are below one
// or two fifths of least.
func ShortChance(sorted []time.Duration, least time.Duration) float64 {
	n, looks := len(sorted), 2
	ln := 0.0
	for fifths := 1; fifths <= 2; fifths++ {
		below, _ := slices.BinarySearch(sorted, least*time.Duration(fifths)/5)
		ln = min(ln, math.Log(Tail(n, below, 0.2*float64(fifths))))
	}
	for _, dropped := range slices.Compact([]int{0, (Dropped(n) + 1) / 2, Dropped(n)}) {
		kept, sum := n-dropped, time.Duration(0)
		for _, w := range sorted[:kept] {
			sum += w
		}
		looks++
		ln = min(ln, lnChoose(n, kept)+lnSum(kept, sum, least))
	}
	return min(1, float64(looks)*math.Exp(ln))
}

// EqualChance is the chance that n waits drawn evenly from a stretch of the given width lie within resolution of each
// other, the longest 15 % left out (as in Spread).
func EqualChance(n int, width, resolution time.Duration) float64 {
	t := float64(resolution) / float64(width)
	if t >= 1 || n < 2 {
		return 1
	}
	// The distance between the first and the j-th of n order statistics is Beta(j-1, n-j+2), a tail of the binomial.
	least := n - Dropped(n) - 1
	chance := 0.0
	for k := least; k <= n; k++ {
		chance += math.Exp(lnChoose(n, k) + float64(k)*math.Log(t) + float64(n-k)*math.Log1p(-t))
	}
	return min(1, chance)
}

// Tail is the chance that of n things that each happen with chance p, at least k do.
func Tail(n, k int, p float64) float64 {
	switch {
	case k <= 0 || p >= 1 && k <= n:
		return 1
	case k > n || p <= 0:
		return 0
	}
	chance := 0.0
	for ; k <= n; k++ {
		chance += math.Exp(lnChoose(n, k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	return min(1, chance)
}

// CrowdChance bounds the chance that of n moments drawn evenly from a stretch, some window that is the given share of it
// holds k or more: one of them opens the window, and k-1 of the others fall into it.
func CrowdChance(n, k int, share float64) float64 {
	return min(1, float64(n)*Tail(n-1, k-1, share))
}

// Dropped is how many of n waits a slow machine may have stretched: 15 %, rounded up.
func Dropped(n int) int { return (n*15 + 99) / 100 }

func lnChoose(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return a - b - c
}
