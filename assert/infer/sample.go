package infer

import (
	"slices"
	"time"
)

// gap is one wait that a client chose, in seconds.
type gap struct {
	retry int     // 0: before the second attempt
	wait  float64 // never negative
	prev  float64 // the wait before it in its call; 0 for the first
	clock float64 // how many times faster than the machine's the clock ran
}

// sample is what a policy is read from.
type sample struct {
	gaps   []gap
	by     [][]float64 // by retry, sorted; none is empty
	middle []float64   // median of each, or the mean where times were rounded
	clocks []float64   // the fastest that showed any of each, see gap
	calls  int
	noise  noise
}

// What is looked at: more calls, or later retries, tell nothing new.
const (
	mostRetries = 40
	mostGaps    = 800
)

// newSample takes the waits of calls, each in order. Calls without waits do not count.
func newSample(calls [][]time.Duration, o Options) *sample {
	s := &sample{}
	longest := 0.0
	for _, waits := range calls {
		if len(waits) == 0 {
			continue
		}
		if len(s.gaps) > mostGaps {
			break
		}
		s.calls++
		prev := 0.0
		for k, w := range waits[:min(len(waits), mostRetries)] {
			wait := max(0, w.Seconds())
			s.gaps = append(s.gaps, gap{k, wait, prev, o.clock(k)})
			longest = max(longest, wait)
			prev = wait
		}
	}
	s.noise = noiseFrom(o, longest)
	s.index()
	return s
}

// index sorts the waits of each retry.
func (s *sample) index() {
	s.by, s.middle, s.clocks = nil, nil, nil
	for _, g := range s.gaps {
		for g.retry >= len(s.by) {
			s.by, s.clocks = append(s.by, nil), append(s.clocks, g.clock)
		}
		s.clocks[g.retry] = max(s.clocks[g.retry], g.clock)
		s.by[g.retry] = append(s.by[g.retry], g.wait)
	}
	for _, waits := range s.by {
		slices.Sort(waits)
		if s.noise.tick > 0 { // roundings even out in the mean
			s.middle = append(s.middle, meanOf(waits))
		} else {
			s.middle = append(s.middle, quantile(waits, 0.5))
		}
	}
}

// retries is how many retries there are waits of.
func (s *sample) retries() int { return len(s.by) }

func (s *sample) longest() float64 {
	longest := 0.0
	for _, waits := range s.by {
		longest = max(longest, waits[len(waits)-1])
	}
	return longest
}

// noiseFrom is what is known of the machine.
func noiseFrom(o Options, longest float64) noise {
	mean := o.Lateness.Seconds()
	if mean <= 0 {
		mean = UsualLateness.Seconds()
	}
	n := noise{mean: mean, stall: max(0.25, 20*mean), share: stallShare, usualStall: o.Stall.Seconds(), watched: o.Stall > 0, whole: max(1, longest)}
	if n.usualStall > idleStall {
		n.stall, n.share = max(n.stall, 2*n.usualStall), busyShare
	}
	if o.Resolution > finest {
		n.tick = o.Resolution.Seconds()
	}
	return n
}

// UsualLateness is that of an idle machine, on loopback.
const UsualLateness = 2 * time.Millisecond

// behindFirst is the sample without the waits before the first retries.
func (s *sample) behindFirst() *sample {
	return s.only(func(retry int) (int, bool) { return retry - 1, retry > 0 })
}

// only is the sample of some retries, with new numbers.
func (s *sample) only(pick func(retry int) (as int, ok bool)) *sample {
	part := &sample{calls: s.calls, noise: s.noise}
	for _, g := range s.gaps {
		if as, ok := pick(g.retry); ok {
			if as == 0 {
				g.prev = 0
			}
			part.gaps = append(part.gaps, gap{as, g.wait, g.prev, g.clock})
		}
	}
	part.index()
	return part
}

// quantile of sorted values, 0 to 1, between neighbours.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
