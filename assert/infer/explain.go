package infer

import (
	"math"
	"slices"
	"time"
)

// immediately is how soon a retry may come for which the client did not wait at all.
const immediately = 20 * time.Millisecond

// What families and multipliers that fewer clients use have to explain better than doubling does, as BIC counts: twice the
// logarithm of how much rarer they are.
const (
	lessUsual  = 2.5
	rareFamily = 5.0
	rarest     = 9.0
)

var immediate = register(Family{Name: "immediate", Summary: "the client does not wait: 0, 0, 0"})

// atOnce reports whether four of five waits before these retries are none, and the shortest fifth shows that it is not the
// machine that is late by as much as the client waits.
func (s *sample) atOnce(by [][]float64) bool {
	all := slices.Concat(by...)
	slices.Sort(all)
	return quantile(all, 0.8) <= s.none() && (s.noise.tick > 0 || quantile(all, 0.2) <= max(immediately.Seconds(), 2*s.noise.mean))
}

// none is the longest wait that may be none.
func (s *sample) none() float64 {
	if s.noise.tick > 0 {
		return s.noise.tick / 2
	}
	return max(immediately.Seconds(), 8*s.noise.mean)
}

// zeroFirst reports whether only the first retry comes at once, as urllib3's does.
func (s *sample) zeroFirst() bool {
	if s.retries() < 3 || !s.atOnce(s.by[:1]) {
		return false
	}
	return slices.Min(s.middle[1:]) > max(s.none(), 4*s.middle[0])
}

// explanations are all fits worth comparing, the best first.
func explanations(s *sample) []fit {
	if s.atOnce(s.by) {
		return []fit{{family: immediate, kind: JitterNone, curve: curveOf(s.retries(), 0, constant.curve)}}
	}
	zero := s.zeroFirst()
	if zero {
		s = s.behindFirst()
	}
	if s.firstStill() {
		if fits := s.apart(); fits != nil {
			return fits
		}
	}
	fits := likely(s, fitAll(s, func(*Family) bool { return true }))
	for i := range fits {
		fits[i].zero = zero
	}
	return fits
}

// likely leaves out the fits that are far from what is seen. Where none is left, no family is known.
func likely(s *sample, fits []fit) []fit {
	if len(fits) == 0 || s.calls < leastIrregular {
		return fits
	}
	kept := slices.DeleteFunc(slices.Clone(fits), func(f fit) bool { return !s.plausible(&f) })
	f := irregularity(s)
	if len(kept) == 0 || kept[0].kind != JitterNone && f.badness(s) < kept[0].total(s)-hopeless {
		kept = append([]fit{f}, kept...)
	}
	return kept
}

// hopeless is the distance behind no pattern at all at which a family is not believed, however near it comes.
const hopeless = 60

// leastIrregular is how many calls it takes to say that no family is known: fewer may look like anything.
const leastIrregular = 5

// firstStill reports whether the first wait is the same in all calls, and later ones are not: resty's jitter does not
// reach below its first wait.
func (s *sample) firstStill() bool {
	if s.retries() < 3 || s.calls < leastCalls || s.noise.tick > 0 {
		return false
	}
	for k, waits := range s.by {
		still := quantile(waits, 0.85)-waits[0] < 2*s.noise.mean*s.clocks[k]+0.01*waits[0]
		if still != (k == 0) {
			return false
		}
	}
	return true
}

// apart explains the waits behind a first one that stands by itself, if that explains them better than all together.
func (s *sample) apart() []fit {
	rest := s.behindFirst()
	fits, whole := fitAll(rest, func(*Family) bool { return true }), fitAll(s, func(*Family) bool { return true })
	if len(fits) == 0 || len(whole) == 0 {
		return nil
	}
	first := s.only(func(retry int) (int, bool) { return 0, retry == 0 })
	alone := first.still(fit{curve: []float64{1}}, first.by[0])
	if fits[0].total(rest)-2*alone.lnL+math.Log(float64(len(s.gaps))) > whole[0].total(s) {
		return nil
	}
	fits = likely(rest, fits)
	for i := range fits {
		fits[i].steady = alone.low
	}
	return fits
}

// clearly is the distance in BIC at which one explanation counts as better than another.
const clearly = 6

// fitAll tries the families, the best fit first.
func fitAll(s *sample, wanted func(*Family) bool) (fits []fit) {
	for _, f := range Families.All() {
		if f.fits != nil && wanted(f) {
			fits = append(fits, f.fits(s)...)
		}
	}
	if wanted(linear) {
		fits = append(fits, additives(s)...)
	}
	fits = ranked(s, fits)
	for i := range fits {
		if i > 0 && fits[i].total(s) > fits[0].total(s)+promising {
			break
		}
		fits[i] = s.refine(fits[i])
	}
	fits = ranked(s, fits)
	for i := range fits {
		if fits[i].total(s) > fits[0].total(s)+2*clearly {
			break
		}
		if f := fits[i]; f.limit > 0 && f.at != nil && f.kind != JitterNone {
			fits[i] = s.nudge(f)
		}
	}
	return ranked(s, fits)
}

// promising is how far behind the best a rough fit may lie that is worth refining.
const promising = 100

// ranked sorts fits, the best first.
func ranked(s *sample, fits []fit) []fit {
	fits = slices.DeleteFunc(fits, func(f fit) bool { return math.IsNaN(f.lnL) || math.IsInf(f.lnL, 0) })
	slices.SortStableFunc(fits, func(a, b fit) int { return compare(a.total(s), b.total(s)) })
	return fits
}

// total is the badness with what speaks against rare families and multipliers.
func (f *fit) total(s *sample) float64 { return f.badness(s) + f.family.rank + f.rank }

// simple families are those that layers are made of.
func simple(f *Family) bool { return f != layers && f != list && f != decorrelated }

// best is the best fit of some families; nil for no waits.
func best(s *sample, wanted func(*Family) bool) *fit {
	if len(s.gaps) == 0 {
		return nil
	}
	if s.atOnce(s.by) {
		f := fit{family: immediate, kind: JitterNone, curve: curveOf(s.retries(), 0, constant.curve), params: 1}
		f.lnL = s.ranged(f.curve, 0, 0)
		return &f
	}
	fits := fitAll(s, wanted)
	if len(fits) == 0 {
		return nil
	}
	return &fits[0]
}
