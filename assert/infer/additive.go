package infer

import (
	"math"
	"slices"
)

// additive fits waits to which something drawn from nothing up to one constant is added, whatever the retry, as avast/retry-go,
// got and stamina do. Only where the curve grows beyond a quarter of what is added: otherwise it would explain any constant wait.
func (s *sample) additive(base fit, at func(retry int) float64) (fit, bool) {
	curve := curveOf(s.retries(), 0, at)
	unit := math.Inf(1)
	for k, waits := range s.by {
		unit = min(unit, waits[0]/curve[k])
	}
	rest := make([]float64, len(s.gaps))
	for i, g := range s.gaps {
		rest[i] = g.wait - unit*curve[g.retry]
	}
	slices.Sort(rest)
	best := base
	best.curve, best.kind, best.low, best.lnL, best.params = curve, JitterAdditive, unit, math.Inf(-1), base.params+2
	for _, t := range trims {
		added := quantile(rest, 1-t)
		if added < s.noise.narrowest()*slices.Min(s.clocks) || curve[len(curve)-1]*unit < added/4 {
			continue
		}
		l := 0.0
		for _, g := range s.gaps {
			d := unit * curve[g.retry]
			l += math.Log(s.noise.density(g.wait, d, d+added, g.clock))
		}
		if l > best.lnL {
			best.lnL, best.top = l, unit+added
		}
	}
	return best, !math.IsInf(best.lnL, -1)
}

// additives fits the curves to which clients are known to add a constant.
func additives(s *sample) (fits []fit) {
	add := func(f fit, at func(int) float64) {
		if found, ok := s.additive(f, at); ok {
			fits = append(fits, found)
		}
	}
	add(fit{family: linear}, linear.curve)
	guesses := roundMultipliers[:]
	if n := s.retries(); n > 1 { // what is added matters least for the longest waits
		guesses = append(slices.Clone(guesses), s.by[n-1][0]/max(s.by[n-2][0], 1e-6))
	}
	for _, q := range guesses {
		if q > 1.02 && q < 30 {
			add(weighed(fit{family: exponential, multiplier: q}), func(retry int) float64 { return math.Pow(q, float64(retry)) })
		}
	}
	return fits
}
