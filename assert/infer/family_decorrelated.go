package infer

import "math"

// decorrelated waits depend on the one before: drawn from the base to three times that, as AWS described it in 2015.
var decorrelated = register(Family{Name: "decorrelated", Summary: "each wait is drawn from the first to three times the one before"})

func init() { decorrelated.fits = decorrelations }

func decorrelations(s *sample) []fit {
	if s.retries() < 2 {
		return nil
	}
	least, longest := math.Inf(1), s.longest()
	for _, waits := range s.by {
		least = min(least, waits[0])
	}
	best := fit{family: decorrelated, kind: JitterDecorrelated, lnL: math.Inf(-1)}
	for _, base := range [...]float64{least, least * 0.99, least * 0.97, quantile(s.by[0], 0.02)} {
		if base <= 0 {
			continue
		}
		for _, limit := range [...]float64{0, longest, longest * 0.995, longest * 0.98} {
			f := fit{family: decorrelated, kind: JitterDecorrelated, low: base, top: 3 * base, params: 1}
			if limit > 0 && (limit < 2*base || s.about(limit) < 2) { // nothing is left to draw from, or one wait is no limit
				continue
			}
			if limit > 0 {
				f.limit = limit / base
				f.params++
			}
			f.lnL = s.decorrelation(base, limit)
			if f.badness(s) < best.badness(s) {
				best = f
			}
		}
	}
	if math.IsInf(best.lnL, -1) {
		return nil
	}
	return []fit{best}
}

// decorrelation is how likely the waits are; what is drawn beyond the limit waits the limit, 0 for none.
func (s *sample) decorrelation(base, limit float64) float64 {
	sum := 0.0
	for _, g := range s.gaps {
		prev := base
		if g.retry > 0 {
			prev = max(base, g.prev)
		}
		top := 3 * prev
		if limit == 0 || top <= limit || limit <= base {
			sum += math.Log(s.noise.density(g.wait, base, top, g.clock))
			continue
		}
		beyond := (top - limit) / (top - base)
		sum += math.Log((1-beyond)*s.noise.density(g.wait, base, limit, g.clock) + beyond*s.noise.density(g.wait, limit, limit, g.clock))
	}
	return sum
}

// about counts the waits as long as this, to a hundredth.
func (s *sample) about(wait float64) (n int) {
	for _, g := range s.gaps {
		if math.Abs(g.wait-wait) <= wait/100+s.noise.mean*g.clock {
			n++
		}
	}
	return n
}
