package playbook

import (
	"slices"
	"time"
)

// sample keeps an even choice of many durations in a few places: each time it is full, every other one goes.
type sample struct {
	kept   []time.Duration
	every  int // of so many, one is kept
	n      int
	lowest time.Duration
	sum    time.Duration
}

const sampleSize = 256

func (s *sample) add(d time.Duration) {
	if s.n == 0 || d < s.lowest {
		s.lowest = d
	}
	s.sum += d
	if s.every == 0 {
		s.every = 1
	}
	if s.n++; s.n%s.every != 0 {
		return
	}
	if len(s.kept) == sampleSize {
		for i := range sampleSize / 2 {
			s.kept[i] = s.kept[2*i+1]
		}
		s.kept = s.kept[:sampleSize/2]
		s.every *= 2
	}
	s.kept = append(s.kept, d)
}

// mean is of all of them; rounding to whole seconds leaves it as it is. 0 for none.
func (s *sample) mean() time.Duration { return s.sum / time.Duration(max(1, s.n)) }

// quantile is the value that share of them do not exceed; 0 for none.
func (s *sample) quantile(share float64) time.Duration {
	if len(s.kept) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.kept))
	return sorted[int(share*float64(len(sorted)-1))]
}

// steady reports whether nine in ten lie within a tenth of the median, or within slack, and there are enough of them.
func (s *sample) steady(slack time.Duration) bool {
	median := s.quantile(0.5)
	return len(s.kept) >= 8 && s.quantile(0.95)-s.quantile(0.05) <= max(slack, median/10)
}
