package assert

import (
	"math"
	"slices"
	"time"
)

// Delays describes the waits that the client chooses by itself. Zero values promise nothing.
type Delays struct {
	Initial    time.Duration `doc:"wait before the first retry, before jitter"`
	Multiplier float64       `doc:"factor from one wait to the next, before jitter"`
	Growth     float64       `doc:"least factor by which the mean wait grows per retry, 1: it need not; default derived from the waits"`
	Max        time.Duration `doc:"no wait is longer, before jitter"`
	Jitter     Jitter        `doc:"how waits are drawn at random: any, none, full, equal, decorrelated, {proportional: 0.5} or {additive: 100ms}"`
	// As senders of webhooks use it: 5 s, 5 min, 30 min, 2 h.
	Schedule []time.Duration `doc:"the waits one by one, before jitter, in the place of initial and multiplier; the last one repeats"`
}

// Delay is the wait before retry k (from 1) without jitter; 0 when the contract does not fix it.
func (d Delays) Delay(k int) time.Duration {
	wait := float64(d.Initial) * math.Pow(max(d.Multiplier, 1), float64(k-1))
	if n := len(d.Schedule); n > 0 {
		wait = float64(d.Schedule[min(max(k, 1), n)-1])
	}
	if limit := float64(d.Max); d.Max > 0 && wait > limit {
		wait = limit
	}
	if wait >= float64(maxTime) { // a doubling delay leaves 64 bits after some forty retries
		return maxTime
	}
	return time.Duration(wait)
}

// Floor is the shortest lawful wait before retry k. Whoever agrees on a schedule does not mean zero: where its jitter is
// left open, half of each wait is the least.
func (d Delays) Floor(k int) time.Duration {
	delay := d.Delay(k)
	switch {
	case d.Jitter.Form == JitterDecorrelated:
		return d.Jitter.Floor(d.Delay(1))
	case len(d.Schedule) > 0 && d.Jitter.Form <= JitterAny:
		return delay / 2
	default:
		return d.Jitter.Floor(delay)
	}
}

// Ceiling is the longest lawful wait before retry k.
func (d Delays) Ceiling(k int) time.Duration {
	delay := d.Delay(k)
	if d.Jitter.Form == JitterDecorrelated {
		for range min(k-1, 100) { // three times the wait before, each time
			if delay = min(3*delay, maxTime/4); d.Max > 0 {
				delay = min(delay, d.Max)
			}
		}
		if longest := d.Jitter.Ceiling(delay); d.Max > 0 {
			return min(longest, d.Max)
		}
	}
	return d.Jitter.Ceiling(delay)
}

// Longest is the longest wait before jitter; 0 when nothing bounds it.
func (d Delays) Longest() time.Duration {
	if len(d.Schedule) == 0 {
		return d.Max
	}
	longest := slices.Max(d.Schedule)
	if d.Max > 0 {
		longest = min(longest, d.Max)
	}
	return longest
}

// shortest is the least wait before any retry.
func (d Delays) shortest() time.Duration {
	least := d.Floor(1)
	for k := range d.Schedule {
		least = min(least, d.Floor(k+1))
	}
	return least
}

// fixed reports whether the contract names every wait.
func (d Delays) fixed() bool { return len(d.Schedule) > 0 || d.Initial > 0 && d.Multiplier > 0 }

// MinGrowth is the least factor by which the mean wait has to grow per retry; 0 when nothing is promised. Half of the
// agreed growth is demanded where only a multiplier or a schedule is written: caps and few retries flatten the curve.
func (d Delays) MinGrowth() float64 {
	switch n := len(d.Schedule); {
	case d.Growth > 0:
		return d.Growth
	case n > 1 && d.Schedule[n-1] > d.Schedule[0]:
		each := math.Pow(float64(d.Schedule[n-1])/float64(d.Schedule[0]), 1/float64(n-1))
		return 1 + (min(each, 2)-1)/2
	case n > 0:
		return 1
	case d.Multiplier > 1:
		return 1 + (d.Multiplier-1)/2
	default:
		return 0
	}
}
