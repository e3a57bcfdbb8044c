package infer

import "math"

// How far a fit may be from what is seen and still be called right: a busy machine stretches many waits, and no likelihood
// knows how busy it was.
const (
	nearEnough    = 0.15 // of the longest wait before a retry
	shownSpread   = 0.35 // of a range, that waits before most retries have to cover
	spreadSamples = 8
)

// plausible reports whether the waits before each retry lie about where the fit says, and are spread about as far.
func (s *sample) plausible(f *fit) bool {
	if f.curve == nil { // layers are made of parts that are, and decorrelated waits have no curve
		return true
	}
	shown, looked := 0, 0
	for k, waits := range s.by {
		low, top := s.bounds(f, k)
		n := float64(len(waits))
		slack := nearEnough*top + s.noise.tick + (3*s.noise.mean+s.noise.usualStall)*s.clocks[k]
		if math.Abs(quantile(waits, 0.5)-(low+top)/2) > slack+1.5*(top-low)/math.Sqrt(n) {
			return false
		}
		if quantile(waits, 0.1) < low-slack || quantile(waits, 0.7) > top+slack {
			return false
		}
		if f.kind == JitterNone || len(waits) < spreadSamples {
			continue
		}
		looked++
		if quantile(waits, 0.9)-quantile(waits, 0.1) >= shownSpread*(top-low) {
			shown++
		}
	}
	return 3*shown >= 2*looked
}

// bounds are the shortest and longest wait that the fit gives before a retry.
func (s *sample) bounds(f *fit, retry int) (low, top float64) {
	if f.kind == JitterAdditive {
		return f.low * f.curve[retry], f.low*f.curve[retry] + f.top - f.low
	}
	return f.low * f.curve[retry], f.top * f.curve[retry]
}
