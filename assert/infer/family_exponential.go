package infer

import (
	"math"
	"slices"
)

var exponential = register(Family{Name: "exponential", Summary: "each wait is a multiple of the one before: 1, 2, 4, 8"})

func init() { exponential.fits = exponentials }

// roundMultipliers are those that people choose; the first ones so often that they count as no parameter.
var roundMultipliers = [...]float64{2, 1.5, 3, 1.25, 1.3, 1.6, 1.8, 2.5, 4, 5, 6, 10}

const (
	commonMultipliers = 3
	longCalls         = 8 // retries that show both a multiplier that is not common and a limit
)

// weighed says what speaks against a multiplier. One that is not round can follow many curves.
func weighed(f fit) fit {
	switch i := slices.Index(roundMultipliers[:], f.multiplier); {
	case i == 0:
	case i > 0 && i < commonMultipliers:
		f.rank = 1.5 * lessUsual
	case i > 0:
		f.rank = rarest + lessUsual
	default:
		f.params, f.rank = f.params+2, rarest
	}
	return f
}

func exponentials(s *sample) []fit {
	if s.retries() < 2 {
		return nil
	}
	var fits []fit
	tried := map[float64]bool{}
	try := func(q float64) []fit {
		if q < 1.02 || q > 30 || tried[q] {
			return nil
		}
		tried[q] = true
		base := weighed(fit{family: exponential, multiplier: q})
		at := func(retry int) float64 { return math.Pow(q, float64(retry)) }
		drawn := s.drawn(base, at, base.rank < rareFamily || s.retries() >= longCalls)
		fits = append(fits, drawn...)
		return drawn
	}
	guesses := s.multipliers()
	for _, q := range guesses {
		try(q)
	}
	for _, round := range roundMultipliers {
		if slices.ContainsFunc(guesses, func(q float64) bool { return math.Abs(math.Log(round/q)) < 0.3 }) {
			try(round)
		}
	}
	s.climb(fits, try)
	return fits
}

// multipliers guesses from the waits: their growth over all retries, over the first ones alone (a limit may follow), and
// from the first to the last.
func (s *sample) multipliers() (guesses []float64) {
	n := s.retries()
	for _, upTo := range [...]int{n, n - 2, (n + 1) / 2, 2} {
		if upTo < 2 || upTo > n {
			continue
		}
		means, middles, least := make([]float64, upTo), make([]float64, upTo), make([]float64, upTo)
		for k := range upTo {
			means[k] = max(meanOf(s.by[k])-s.noise.mean*s.clocks[k], 1e-6)
			middles[k] = max(s.middle[k]-s.noise.mean*math.Ln2*s.clocks[k], 1e-6)
			least[k] = max(s.by[k][0], 1e-6)
		}
		for _, values := range [...][]float64{means, middles, least} {
			guesses = append(guesses, math.Exp(SlopeOf(values)))
		}
		guesses = append(guesses, math.Pow(least[upTo-1]/least[0], 1/float64(upTo-1)))
	}
	return guesses
}

// climb looks for a better multiplier around the best one so far, in smaller and smaller steps.
func (s *sample) climb(fits []fit, try func(q float64) []fit) {
	if len(fits) == 0 {
		return
	}
	best := slices.MinFunc(fits, func(a, b fit) int { return compare(a.badness(s), b.badness(s)) })
	for _, step := range [...]float64{0.05, 0.02, 0.01} {
		for _, q := range [...]float64{best.multiplier * (1 - step), best.multiplier * (1 + step)} {
			for _, f := range try(q) {
				if f.lnL > best.lnL+0.5 {
					best = f
				}
			}
		}
	}
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}
