package infer

import (
	"math"
	"slices"
)

// fit is one explanation of the waits: a curve, and how the client draws its waits around it.
type fit struct {
	family     *Family
	curve      []float64               // the wait before each retry, in units of the first; nil where the curve is not the point
	at         func(retry int) float64 // the same without a limit; nil where there can be none
	multiplier float64                 // of exponential curves, else 0
	limit      float64                 // in units of the first wait; 0: none is reached
	last       bool                    // only the last wait shows the limit
	exponent   int                     // of power curves, else 0
	zero       bool                    // the first retry comes at once, and the curve begins with the second

	steady float64 // the first wait where it stands by itself and the curve begins with the second, in seconds; else 0

	kind     JitterKind
	rough    bool    // the range is a first guess still
	low, top float64 // seconds: shortest and longest first wait; of additive jitter the wait and the wait with all of it

	schedule     []float64 // of lists: seconds
	period       int       // of layers: attempts of the inner one
	inner, outer *fit

	rank   float64 // what speaks against it besides its family: a multiplier that few use
	lnL    float64
	params float64 // that were fitted to the waits
}

// badness is the Bayesian information criterion: the smaller the better.
func (f *fit) badness(s *sample) float64 { return -2*f.lnL + f.params*math.Log(float64(len(s.gaps))) }

// curveOf tabulates a curve and cuts it off at a limit, 0 for none.
func curveOf(n int, limit float64, at func(retry int) float64) []float64 {
	curve := make([]float64, n)
	for k := range curve {
		curve[k] = at(k)
		if limit > 0 {
			curve[k] = min(curve[k], limit)
		}
	}
	return curve
}

// ranged is the logarithm of how likely the waits are when each is drawn evenly between low and top times the curve.
func (s *sample) ranged(curve []float64, low, top float64) float64 {
	return s.rangedIn(&s.noise, curve, low, top)
}

func (s *sample) rangedIn(n *noise, curve []float64, low, top float64) float64 {
	sum, product := 0.0, 1.0
	for _, g := range s.gaps {
		t := curve[g.retry]
		product *= n.density(g.wait, low*t, top*t, g.clock)
		if product < 1e-200 || product > 1e200 { // a logarithm now and then, instead of one for each wait
			sum, product = sum+math.Log(product), 1
		}
	}
	return sum + math.Log(product)
}

// alike is the same where waits do not vary. What they vary by then is the machine's lateness, which they show themselves:
// what everything is late by, and what is added to that.
func (s *sample) alike(curve []float64, unit float64) (lnL, params float64) {
	n := s.noise
	if n.tick > 0 {
		return s.ranged(curve, unit, unit), 0
	}
	usual, most := 3*s.noise.mean, max(3*s.noise.mean, busyMean)
	late, least := 0.0, math.Inf(1)
	for _, g := range s.gaps {
		rest := (g.wait - unit*curve[g.retry]) / g.clock
		late += min(max(rest, 0), 4*most)
		least = min(least, rest)
	}
	least = min(max(least, -early), s.noise.mean)
	n.mean = min(max(late/float64(len(s.gaps))-least, s.noise.mean/4), most)
	n.least = least + 0.8*early // no earlier than the earliest, or a little
	if n.mean > usual {         // a busy machine nobody knew of
		params = 1
	}
	return s.rangedIn(&n, curve, unit, unit), params
}

// Shares of the waits that may lie outside a range, in search of the range that explains them best. The first ones are guesses.
var (
	trims    = [...]float64{0.015, 0.06, 0, 0.03, 0.007, 0.022, 0.045}
	lowTrims = [...]float64{0, 0.015, 0.04}
)

// spreads fits each kind of jitter that multiplies the curve, those with a range roughly.
func (s *sample) spreads(base fit) []fit {
	scaled, tops := s.scaled(base.curve)
	return []fit{s.still(base, scaled), s.full(base, tops, true), s.between(base, scaled, tops, true)}
}

// refine fits the range of a rough fit as well as it can be.
func (s *sample) refine(f fit) fit {
	if !f.rough {
		return f
	}
	scaled, tops := s.scaled(f.curve)
	if f.rough = false; f.kind == JitterFull {
		return s.full(f, tops, false)
	}
	return s.between(f, scaled, tops, false)
}

// nudge moves the limit of a fit to where it explains most.
func (s *sample) nudge(f fit) fit {
	for _, by := range [...]float64{0.96, 1.04, 0.98, 1.02} {
		moved := f
		moved.limit *= by
		moved.curve, moved.rough = curveOf(s.retries(), moved.limit, f.at), true
		if moved = s.refine(moved); moved.lnL > f.lnL && moved.limit > 1.1*f.curve[0] {
			f = moved
		}
	}
	return f
}

// scaled gives the waits in units of the curve, sorted; tops without what lateness adds in the mean.
func (s *sample) scaled(curve []float64) (scaled, tops []float64) {
	both := make([]float64, 2*len(s.gaps))
	scaled, tops = both[:len(s.gaps)], both[len(s.gaps):]
	for i, g := range s.gaps {
		scaled[i] = g.wait / curve[g.retry]
		tops[i] = max(0, g.wait-s.noise.mean*g.clock) / curve[g.retry]
	}
	slices.Sort(scaled)
	slices.Sort(tops)
	return scaled, tops
}

// still fits waits that do not vary.
func (s *sample) still(base fit, scaled []float64) fit {
	best := base
	best.kind, best.lnL = JitterNone, math.Inf(-1)
	best.params++
	for _, b := range [...]float64{scaled[0], quantile(scaled, 0.05), quantile(scaled, 0.2), s.steady(base.curve), s.slope(base.curve)} {
		if l, params := s.alike(base.curve, b); l > best.lnL {
			best.lnL, best.low, best.top, best.params = l, b, b, base.params+1+params
		}
	}
	return best
}

// steady is the unit of the curve that fits the medians best, each by its size, without what lateness adds.
func (s *sample) steady(curve []float64) float64 {
	late := s.noise.median()
	above, below := 0.0, 0.0
	for k, m := range s.middle {
		n := float64(len(s.by[k]))
		above += n * curve[k] * (m - late*s.clocks[k])
		below += n * curve[k] * curve[k]
	}
	return max(0, above/below)
}

// slope is the unit by which the shortest waits grow along the curve, whatever all of them are late by.
func (s *sample) slope(curve []float64) float64 {
	last := len(curve) - 1
	if grown := curve[last] - curve[0]; grown > 0 {
		return max(0, (s.by[last][0]-s.by[0][0])/grown)
	}
	return s.by[last][0] / curve[last]
}

// full fits waits drawn from nothing up to the curve.
func (s *sample) full(base fit, tops []float64, rough bool) fit {
	best, tried := s.ranging(base, JitterFull, 1, rough)
	for _, t := range trims[:tried] {
		top := quantile(tops, 1-t)
		if l := s.ranged(base.curve, 0, top); l > best.lnL {
			best.lnL, best.low, best.top = l, 0, top
		}
	}
	return best
}

// between fits waits drawn from a part of the curve up to all of it.
func (s *sample) between(base fit, scaled, tops []float64, rough bool) fit {
	best, tried := s.ranging(base, JitterProportional, 2, rough)
	longest := slices.Max(base.curve)
	narrowest := s.noise.narrowest() * s.clocks[slices.Index(base.curve, longest)]
	for _, t := range trims[:min(tried, 4)] {
		top := quantile(tops, 1-t)
		for i, u := range lowTrims {
			low := quantile(scaled, u)
			if rough && i > 0 || (top-low)*longest < narrowest || u > 0 && len(scaled) < 30 {
				continue
			}
			if l := s.ranged(base.curve, low, top); l > best.lnL {
				best.lnL, best.low, best.top = l, low, top
			}
		}
	}
	return best
}

// ranging is a fit of a range to begin with, and how many guesses to try. Refining one takes up its parameters as they are.
func (s *sample) ranging(base fit, kind JitterKind, params float64, rough bool) (f fit, tried int) {
	f = base
	f.kind, f.lnL, f.rough = kind, math.Inf(-1), rough
	if !rough {
		return f, len(trims)
	}
	f.params += params
	return f, 2
}

// drawn fits every kind of jitter around a curve, and if limited around the same curve with a limit where the waits seem to
// reach one.
func (s *sample) drawn(base fit, at func(retry int) float64, limited bool) []fit {
	base.at, base.curve = at, curveOf(s.retries(), 0, at)
	fits := s.spreads(base)
	if !limited {
		return fits
	}
	for _, limit := range s.limits(base.curve) {
		capped := base
		capped.limit = limit
		capped.curve = curveOf(s.retries(), limit, at)
		capped.params += limitCost
		if s.retries() > 1 && capped.curve[s.retries()-2] < limit { // only the last wait shows it, which takes waits that do not vary
			capped.last, capped.params, capped.rank = true, capped.params+1, capped.rank+rareFamily
			scaled, _ := s.scaled(capped.curve)
			fits = append(fits, s.still(capped, scaled))
			continue
		}
		capped.rank += base.family.rank / 2 // few use it with a limit
		fits = append(fits, s.spreads(capped)...)
	}
	return fits
}

// limitCost is the parameters that a limit counts as: most clients have one.
const limitCost = 0.7

// limits proposes where a growing curve may be cut off: the later waits, put together, in units that the earlier ones give.
// The shortest and the middle ones are good for steady waits, the longest for those that jitter reaches down from.
func (s *sample) limits(curve []float64) (limits []float64) {
	n := s.retries()
	for j := 2; j < n; j++ { // j waits grow
		for _, q := range [...]float64{0, 0.5, 0.97} {
			limit := s.limit(curve, j, q)
			if limit < curve[j-1]*0.98 || limit < 1.1*curve[0] || limit > curve[j]*1.02 || limit > curve[n-1]*0.98 {
				continue
			}
			limits = append(limits, limit)
			if at := curve[j-1]; q > 0.5 && math.Abs(limit/at-1) < 0.06 { // a step of the curve itself
				limits = append(limits, at)
			}
		}
	}
	return limits
}

// limit compares a quantile of the waits from retry j on with that of those before.
func (s *sample) limit(curve []float64, j int, q float64) float64 {
	late, middle := 0.0, q
	switch {
	case q == 0.5:
		late = s.noise.median()
	case q > 0.5:
		middle = 1
	}
	var head, tail []float64
	for k, waits := range s.by {
		w := max(quantile(waits, q)-late*s.clocks[k], 0)
		if k < j {
			head = append(head, w/curve[k])
		} else {
			tail = append(tail, w)
		}
	}
	slices.Sort(head)
	slices.Sort(tail)
	return quantile(tail, middle) / max(quantile(head, middle), 1e-9)
}
