package assert

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
)

// clockShare is by how much two clocks may disagree about a wait (as in Early).
const clockShare = 0.01

// asked is the least slope (of ln(mean wait) per retry) that the contract asks of so many retries: that of Min, less where
// the agreed curve itself is flatter, as added jitter makes it and a maximum.
func (p BackoffGrowth) asked(waits [][]time.Duration) float64 {
	least := math.Log(p.Min)
	if p.Min == 1 {
		return least
	}
	if longest := float64(p.Curve.Longest()); longest > 0 { // jitter may halve the mean at the maximum
		first := float64(meanOf(waits[0]))
		least = min(least, slopeOf(len(waits), func(k int) float64 {
			return min(first*math.Pow(p.Min, float64(k)), max(first, longest*0.45))
		}))
	}
	switch c := p.Curve; {
	case c.Jitter.Form == JitterDecorrelated: // the mean goes from m to (initial + 3m)/2
		mean := 4.0
		return min(least, slopeOf(len(waits), func(int) float64 {
			mean = (1 + 3*mean) / 2
			return mean
		}))
	case c.fixed():
		return min(least, slopeOf(len(waits), func(k int) float64 { return float64(c.Jitter.Mean(c.Delay(k + 1))) }))
	}
	return least
}

// slopeOf is the slope over the first n means.
func slopeOf(n int, mean func(k int) float64) float64 {
	means := make([]float64, n)
	for k := range means {
		means[k] = mean(k)
	}
	return infer.SlopeOf(means)
}

// atMaximum reports whether the waits of later retries look cut off at a maximum: many as long as the longest, far more than
// an even spread would bring together, although waits before the same retry differ. A client that always waits the same
// shows no such difference: a machine makes nothing early.
func atMaximum(waits [][]time.Duration) bool {
	later := slices.Concat(waits[1:]...)
	slices.Sort(later)
	n := len(later)
	top, end := 0, 0 // the fullest stretch of about one length
	about := func(wait time.Duration) time.Duration { return max(noWait, wait/100) }
	for i, j := 0, 0; i < n; i++ {
		for j < n && later[j] <= later[i]+about(later[i]) {
			j++
		}
		if j-i >= top {
			top, end = j-i, j
		}
	}
	longest := later[end-1]
	spread := later[n*17/20] - later[0] // without the latest 15 %
	crowded := spread <= about(longest) || float64(top)*float64(spread) >= 3*float64(n)*float64(about(longest))
	return 4*top >= n && crowded && 20*(n-end) <= 3*n && slices.ContainsFunc(waits, func(w []time.Duration) bool {
		return slices.Max(w)-slices.Min(w) >= longest/10 && slices.Min(w) < longest/10*9
	})
}

// grown describes waits that kept the clause.
func (p BackoffGrowth) grown(t infer.Trend) string {
	if p.Min == 1 && t.Factor() < 1.05 {
		return "do not shrink from retry to retry"
	}
	return fmt.Sprintf("grow %.1f-fold from retry to retry", t.Factor())
}

// short describes waits that broke the clause.
func (p BackoffGrowth) short(t infer.Trend) string {
	switch f := t.Factor(); {
	case f < 0.95:
		return fmt.Sprintf("shrink to %.2f of the one before from retry to retry", f)
	case f < 1.05:
		return "do not grow"
	default:
		return fmt.Sprintf("grow only %.2f-fold from retry to retry", f)
	}
}

func (p BackoffGrowth) wanted() string {
	if p.Min == 1 {
		return "none to be shorter than the one before on average"
	}
	return fmt.Sprintf("each to be %.4g times the one before at least", p.Min)
}
