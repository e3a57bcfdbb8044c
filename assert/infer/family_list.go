package infer

import (
	"math"
	"slices"
)

// list is a schedule written down wait by wait, as senders of webhooks have it. It explains everything, so each of its waits
// counts as much as it takes to say it: little where it is a round time, which chance seldom hits.
var list = register(Family{Name: "list", Summary: "waits from a list, one by one: 5 s, 5 min, 30 min, 2 h"})

func init() { list.fits = lists }

const (
	leastListed = 3
	roundCost   = 9.6 // as BIC counts: one of about 120 round times
)

func lists(s *sample) (fits []fit) {
	if s.retries() < leastListed {
		return nil
	}
	late := s.noise.median()
	middle, top := make([]float64, s.retries()), make([]float64, s.retries())
	cost := 0.0
	for k, waits := range s.by {
		middle[k], top[k] = max(s.middle[k]-late*s.clocks[k], 1e-6), max(quantile(waits, 0.97), 1e-6)
		round, ok := roundTime(middle[k], s.slack(middle[k], s.clocks[k]))
		switch {
		case ok:
			middle[k] = round
			cost += max(roundCost, math.Log(float64(len(s.gaps))))
		case s.calls < 2:
			return nil // any one call is a list of waits
		default:
			cost += roundCost + math.Log(float64(len(s.gaps)))
		}
	}
	still := s.listed(middle, cost)
	still.kind, still.low, still.top = JitterNone, middle[0], middle[0]
	lnL, busy := s.alike(still.curve, middle[0])
	still.lnL, still.params = lnL, still.params+busy
	fits = append(fits, still)
	if s.calls >= leastListed {
		loose := s.listed(top, float64(s.retries())*(roundCost+math.Log(float64(len(s.gaps)))))
		for _, f := range s.spreads(loose) {
			if f.kind != JitterNone {
				f.schedule = scheduled(f.curve, f.middleOf())
				fits = append(fits, f)
			}
		}
	}
	return fits
}

// listed is a list with these waits, which cost so much to say.
func (s *sample) listed(waits []float64, cost float64) fit {
	return fit{
		family: list, schedule: waits, params: cost / math.Log(max(2, float64(len(s.gaps)))),
		curve: curveOf(len(waits), 0, func(retry int) float64 { return waits[retry] / waits[0] }),
	}
}

// middleOf is the first wait that jitter goes around.
func (f *fit) middleOf() float64 {
	switch f.kind {
	case JitterFull, JitterAdditive, JitterDecorrelated:
		if f.kind == JitterFull {
			return f.top
		}
		return f.low
	default:
		if half(f.low, f.top) {
			return f.top
		}
		return (f.low + f.top) / 2
	}
}

func scheduled(curve []float64, first float64) []float64 {
	return curveOf(len(curve), 0, func(retry int) float64 { return first * curve[retry] })
}

// slack is how far from a round time a wait may be seen that was meant to be it, on a clock so much faster than the machine's.
func (s *sample) slack(wait, clock float64) float64 {
	if s.noise.tick > 0 {
		return s.noise.tick
	}
	return max(4*s.noise.mean*clock, wait/2000)
}

// roundTime finds the time that people would write for a wait: one or two digits of seconds, minutes or hours.
func roundTime(wait, slack float64) (float64, bool) {
	for _, unit := range [...]float64{3600, 60, 1, 0.1} {
		if wait < 0.95*unit {
			continue
		}
		n := math.Round(wait / unit)
		if slices.Contains(roundNumbers[:], n) && math.Abs(n*unit-wait) <= slack {
			return n * unit, true
		}
	}
	return wait, false
}

var roundNumbers = [...]float64{1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 15, 18, 20, 24, 25, 30, 36, 40, 45, 48, 50, 60, 72, 75, 80, 90, 100}
