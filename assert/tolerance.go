package assert

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Tolerances and limits of what a machine may do to a measured time (measured on loopback: idle lateness p99 1.7 ms,
// with every core busy 220 ms).
const (
	lateFloor  = 250 * time.Millisecond // least allowance for what comes late
	noiseFloor = 25 * time.Millisecond  // least time that two clients' waits must differ by to count as different
)

// Early is how much sooner than promised something may seem to come: clocks differ by 2 ms and 1 %. A slow machine only
// makes things later, so nothing more is needed.
func Early(delay time.Duration) time.Duration { return 2*time.Millisecond + delay/100 }

// Early is how much sooner than promised something may seem to come where times are rounded: each wait may seem shorter by
// what its ends are rounded to.
func (n Noise) Early(delay time.Duration) time.Duration { return Early(delay) + n.Resolution }

// Late is how much later than promised something may come on a machine whose canary was late by p99 at worst.
func Late(delay, p99 time.Duration) time.Duration { return max(lateFloor, 3*p99, delay/10) }

// Late is how much later than promised something may come between two instants: by what the canary saw there, and by what
// times are rounded to.
func (n Noise) Late(delay, from, to time.Duration) time.Duration {
	return Late(delay, n.P99(from, to)) + n.Resolution
}

// Known reports whether a canary ran.
func (n Noise) Known() bool { return len(n.Slices) > 0 }

// P99 is the worst p99 lateness among the slices that touch the time from one instant to another; 0 without a canary.
func (n Noise) P99(from, to time.Duration) time.Duration {
	return n.worst(from, to, func(s Slice) time.Duration { return s.P99 })
}

// Max is the longest lateness of all in the slices that touch the time from one instant to another: the longest stall.
func (n Noise) Max(from, to time.Duration) time.Duration {
	return n.worst(from, to, func(s Slice) time.Duration { return max(s.Max, s.P99) })
}

// P50 is the worst median lateness in the slices that touch the time from one instant to another; 0 without a canary.
func (n Noise) P50(from, to time.Duration) time.Duration {
	return n.worst(from, to, func(s Slice) time.Duration { return s.P50 })
}

// Clock is how many times faster than the machine's the clock ran at most from one instant to another, 1 if it did not.
func (n Noise) Clock(from, to time.Duration) float64 {
	return max(1, n.worst(from, to, func(s Slice) time.Duration { return time.Duration(s.clock() * float64(time.Second)) }).Seconds())
}

func (s Slice) clock() float64 { return max(1, s.Clock) }

// real is a time of the slice's as the machine's clock had it.
func (s Slice) real(d time.Duration) time.Duration { return time.Duration(float64(d) / s.clock()) }

// stood bounds the chance that the machine stood still for longer than least at some moment from one instant to another.
func (n Noise) stood(from, to, least time.Duration) float64 {
	return float64(n.worst(from, to, func(s Slice) time.Duration {
		switch {
		case max(s.Max, s.P99) <= least:
			return 0
		case s.Stood > 0:
			return time.Duration(s.Stood * float64(time.Second))
		default:
			return time.Second
		}
	})) / float64(time.Second)
}

func (n Noise) worst(from, to time.Duration, late func(Slice) time.Duration) time.Duration {
	var worst time.Duration
	after := sort.Search(len(n.Slices), func(i int) bool { return n.Slices[i].From > from })
	for _, s := range n.Slices[max(0, after-1):] {
		if s.From > to {
			break
		}
		worst = max(worst, late(s))
	}
	return worst
}

// Tau is the resolution of the whole run: differences below it may be the machine's. At least 25 ms.
func (n Noise) Tau() time.Duration { return max(noiseFloor, 3*n.P99(0, maxTime), 2*n.Resolution) }

// rounded is what the times of the calls are rounded to at worst.
func rounded(calls []Call) (coarsest time.Duration) {
	for i := range calls {
		coarsest = max(coarsest, calls[i].Run.Noise.Resolution)
	}
	return coarsest
}

// tooCoarse takes back a verdict on the pattern of waits that are short beside what their ends are rounded to: from whole
// seconds only counts, caps and rates show then.
func tooCoarse(r Result, kind Kind, calls []Call) Result {
	coarsest := rounded(calls)
	if !kind.Pattern || coarsest <= noiseFloor || r.Verdict != Pass && r.Verdict != Fail {
		return r
	}
	var waits []time.Duration
	for i := range calls {
		for _, wait := range ownWaits(&calls[i]) {
			waits = append(waits, wait)
		}
	}
	slices.Sort(waits)
	if n := len(waits); n > 0 && waits[n/2] >= 2*coarsest {
		return r
	}
	return Result{Clause: r.Clause, Verdict: Inconclusive, Detail: fmt.Sprintf(
		"times are rounded to %s, and most waits are shorter than twice that, which does not show how they grow or differ", span(coarsest))}
}

const maxTime = time.Duration(1<<63 - 1)
