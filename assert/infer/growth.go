package infer

import (
	"math"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Growth is how the mean wait changes from retry to retry.
type Growth struct {
	Factor float64 // by which the mean wait grows per retry: 1 constant, 2 doubling; 0 with fewer than two waits
	Gaps   int     // waits per call that the factor rests on
	Calls  int     // calls that have all of these waits
	Tight  bool    // the waits before one retry differ little: by half of their median at most, or 25 ms
}

// Enough reports whether the samples carry a verdict on growth. Measured at a threshold of 1.3 with 20,000 simulated
// clients: full jitter is failed wrongly in less than 1 of 10,000 with 10 calls of 4 waits or 20 of 3, and waits that
// differ little with 5 of 3.
func (g Growth) Enough() bool {
	switch {
	case g.Gaps >= 4 && g.Calls >= 10, g.Gaps == 3 && g.Calls >= 20:
		return true
	default:
		return g.Tight && g.Gaps >= 3 && g.Calls >= 5
	}
}

const (
	leastWait = time.Millisecond      // keeps immediate retries in the logarithm
	ticks     = 25 * time.Millisecond // what machines add to a wait and take from it
)

// GrowthOf estimates the growth before the cap. Waits within a tenth of limit are at the agreed cap and left out (0: no
// agreed cap). A client may have a lower cap of its own, after which its waits stay equal: of all beginnings that are
// long enough to decide, the one that grows most counts.
func GrowthOf(calls [][]journal.Entry, limit time.Duration) Growth {
	by := chosen(calls)
	n := 0
	for n < len(by) && 2*len(by[n]) > len(by[0]) && !capped(by[n], limit) {
		n++ // while most calls came this far: those that did may be the quick ones
	}
	if n < 2 {
		return Growth{Gaps: n}
	}
	best := Growth{}
	for k := min(shortest(by, n), n); k <= n; k++ {
		if f := factor(by[:k]); f > best.Factor {
			best = Growth{Factor: f, Gaps: k, Calls: fewest(by[:k]), Tight: tight(by[:k])}
		}
	}
	return best
}

// shortest is how many waits decide with the calls there are: fewer calls need more waits (see Enough).
func shortest(by [][]time.Duration, n int) int {
	three := by[:min(3, n)]
	if fewest(three) >= 20 || tight(three) {
		return 3
	}
	return 4
}

func capped(gaps []time.Duration, limit time.Duration) bool {
	return limit > 0 && gaps[len(gaps)-1] >= limit/10*9
}

// factor is exp of the slope of ln(mean wait) over the index, by least squares.
func factor(by [][]time.Duration) float64 {
	var sx, sy, sxx, sxy float64
	for i, gaps := range by {
		x, y := float64(i), math.Log(float64(max(mean(gaps), leastWait)))
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	n := float64(len(by))
	return math.Exp((n*sxy - sx*sy) / (n*sxx - sx*sx))
}

func fewest(by [][]time.Duration) int {
	n := len(by[0])
	for _, gaps := range by {
		n = min(n, len(gaps))
	}
	return n
}

func tight(by [][]time.Duration) bool {
	for _, gaps := range by {
		if trimmed(gaps) > max(ticks, median(gaps)/2) {
			return false
		}
	}
	return true
}
