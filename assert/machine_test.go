package assert_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
)

// machine is what a build machine does to times, in seconds.
type machine struct {
	name   string
	late   func(r *rand.Rand) float64 // what it adds to each wait
	slow   func(r *rand.Rand) float64 // the same in every other stretch of 5 s, while it is starved; nil: never
	stalls float64                    // about every 4 s nothing moves for so long; 0: never
}

// spiky is a lateness of floor and an exponential tail, and in a share of all cases something from a to b.
func spiky(floor, tail, share, a, b float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.Float64() < share {
			return a + (b-a)*r.Float64()
		}
		return floor + tail*r.ExpFloat64()
	}
}

// The machines. Late is what was measured on loopback; every core busy was 51 ms at least, 71 in the middle, 328 at most.
var (
	busy     = spiky(0.0005, 0.002, 0.02, 0.010, 0.100)
	overrun  = func(r *rand.Rand) float64 { return min(0.328, 0.051+0.033*r.ExpFloat64()) }
	machines = []machine{
		{name: "busy", late: busy},
		{name: "heavy", late: spiky(0.001, 0.006, 0.05, 0.020, 0.250)},
		{name: "starved", late: busy, slow: overrun},
		{name: "stalling", late: busy, stalls: 0.250},
	}
)

// slice is how long a slice of the canary is.
const slice = 5.0

// world is one run on a machine, with the canary that lives in it.
type world struct {
	*rand.Rand
	machine
	stands []float64 // when it stalls
	weight float64   // how much likelier the run is than one drawn by chance: see tilted
}

func newWorld(r *rand.Rand, m machine) *world {
	w := &world{Rand: r, machine: m, weight: 1}
	if m.stalls > 0 {
		for at := 8 * r.Float64(); at < 120; at += 0.3 + 4*r.ExpFloat64() {
			w.stands = append(w.stands, at)
		}
	}
	return w
}

// comes is when something is done that is due at a time.
func (w *world) comes(due float64) float64 {
	late := w.late
	if w.slow != nil && int(due/slice)%2 == 1 {
		late = w.slow
	}
	return w.wakes(due + late(w.Rand))
}

// wakes is when the machine moves again.
func (w *world) wakes(at float64) float64 {
	i, _ := slices.BinarySearch(w.stands, at)
	if i > 0 && at < w.stands[i-1]+w.stalls {
		return w.stands[i-1] + w.stalls
	}
	return at
}

// run is how calls were watched until some time: by a canary that sleeps 50 ms again and again.
func (w *world) run(until float64) *assert.Run {
	run := &assert.Run{Ended: true, Until: seconds(until)}
	var late []time.Duration
	at := 0.0
	for from := 0.0; from <= until; from += slice {
		late = late[:0]
		began, stood := at, 0.0
		for at < from+slice {
			due := at + 0.05
			at = w.comes(due)
			late = append(late, seconds(at-due))
			if at-due > 0.025 {
				stood += at - due
			}
		}
		slices.Sort(late)
		n := len(late)
		run.Noise.Slices = append(run.Noise.Slices, assert.Slice{
			From: seconds(from), P50: late[n/2], P99: late[n-1-n/100], Max: late[n-1], Stood: stood / (at - began), Samples: n,
		})
	}
	return run
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

// even draws from 0 to 1. Where a tilt is given, small values (or with a negative one large values) are drawn more often, by
// exp(-tilt u), and the world remembers how much so: a fail that chance brings once in a million is then seen in a few
// thousand runs, and counts as much as it is worth (importance sampling).
func (w *world) even(tilt float64) float64 {
	u := w.Float64()
	if tilt == 0 {
		return u
	}
	norm := -math.Expm1(-tilt) // 1 - exp(-tilt)
	u = -math.Log1p(-u*norm) / tilt
	w.weight *= norm / tilt * math.Exp(tilt*u)
	return u
}
