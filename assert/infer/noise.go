package infer

import (
	"math"
	"time"
)

// noise is what time measurement adds to a wait: mostly a few milliseconds, now and then a stall, and, where clocks were
// rounded, up to one tick either way. Times are in seconds.
type noise struct {
	mean       float64 // of the common lateness, exponentially distributed
	least      float64 // that everything is late by
	stall      float64 // longest stall
	share      float64 // of the waits that a stall stretches
	watched    bool    // it is known how late the machine was
	usualStall float64 // that one in a hundred takes; 0: not known
	tick       float64 // what both ends of a wait are rounded to; 0: not at all
	whole      float64 // longest wait seen: anything up to there may happen once in a thousand waits
}

const (
	early      = 0.0005 // how much too early a timer may seem to fire
	stallShare = 0.02   // waits that a stall stretches on a machine with time to spare
	busyShare  = 0.15   // and on one that has none
	idleStall  = 0.025  // a stall beyond which it has none
	busyMean   = 0.025  // common lateness of one that has none, at most
	oddShare   = 0.001  // waits that nothing explains
)

// finest is the rounding of times that does not matter beside lateness.
const finest = 5 * time.Millisecond

// below is the share of lateness up to x.
func (n *noise) below(x float64) float64 {
	if n.tick > 0 {
		return triangle(x / n.tick)
	}
	if x += early - n.least; x <= 0 {
		return 0
	}
	p := n.share * min(1, x/n.stall)
	if x < 20*n.mean {
		return p + (1-n.share)*(1-decay(x/n.mean))
	}
	return p + 1 - n.share
}

// at is the density of lateness at x.
func (n *noise) at(x float64) float64 {
	if n.tick > 0 {
		return max(0, 1-math.Abs(x)/n.tick) / n.tick
	}
	if x += early - n.least; x < 0 {
		return 0
	}
	p := 0.0
	if x < n.stall {
		p = n.share / n.stall
	}
	if x < 20*n.mean {
		p += (1 - n.share) * decay(x/n.mean) / n.mean
	}
	return p
}

// triangle is the distribution of the difference of two roundings, in ticks.
func triangle(x float64) float64 {
	switch {
	case x <= -1:
		return 0
	case x <= 0:
		return (1 + x) * (1 + x) / 2
	case x < 1:
		return 1 - (1-x)*(1-x)/2
	default:
		return 1
	}
}

// odd is the density of waits that nothing explains.
func (n *noise) odd() float64 { return oddShare / n.whole }

// density is that of a wait which the client draws evenly from lo to hi, on a clock so many times faster than the machine's.
func (n *noise) density(wait, lo, hi, clock float64) float64 {
	if hi-lo < 1e-3*n.mean*clock {
		return n.odd() + n.at((wait-lo)/clock)/clock
	}
	return n.odd() + (n.below((wait-lo)/clock)-n.below((wait-hi)/clock))/(hi-lo)
}

// median of lateness: what the median of steady waits is too long by.
func (n *noise) median() float64 {
	if n.tick > 0 {
		return 0
	}
	return n.mean * math.Ln2
}

// narrowest is how far apart the longest waits have to be drawn for it to count as jitter, of the machine's time.
func (n *noise) narrowest() float64 {
	if n.tick > 0 {
		return 2 * n.tick
	}
	return max(8*n.mean, 2*n.usualStall)
}

// decay is exp(-x) for 0 <= x < 20, to 5 digits: it is asked for a million times.
func decay(x float64) float64 {
	at := x * decaySteps
	i := int(at)
	return decays[i] + (at-float64(i))*(decays[i+1]-decays[i])
}

const decaySteps = 100

var decays = func() (table [20*decaySteps + 2]float64) {
	for i := range table {
		table[i] = math.Exp(-float64(i) / decaySteps)
	}
	return table
}()
