package driver

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/clock"
)

const (
	sliceSpan     = 5 * time.Second
	fastSliceSpan = 500 * time.Millisecond // of the machine's time, where that of the client runs faster
	stallSpan     = 25 * time.Millisecond  // what is late by more stood still: see assert.Slice
)

// sample is one request of the canary: it followed the one that arrived at after, was due at due and came late.
type sample struct {
	after, due time.Time
	late       time.Duration
}

// cut sorts samples into slices. Each counts in every slice that it touches, from the request before it until it came:
// in a stall nothing arrives, and the shortest of runs lies between two requests. What is late by more than stall is one.
func cut(samples []sample, began time.Time, lasted, slice, stall time.Duration) assert.Noise {
	slots := make([][]time.Duration, int(lasted/slice)+1)
	stood, watched := make([]time.Duration, len(slots)), make([]time.Duration, len(slots))
	for _, s := range samples {
		from, to := s.after.Sub(began), s.due.Add(s.late).Sub(began)
		if to < 0 || from > lasted {
			continue
		}
		for i := max(0, int(from/slice)); i <= min(len(slots)-1, int(to/slice)); i++ {
			slots[i] = append(slots[i], s.late)
			watched[i] += to - from
			if s.late > stall {
				stood[i] += s.late
			}
		}
	}
	var noise assert.Noise
	for i, late := range slots {
		if len(late) == 0 {
			continue
		}
		slices.Sort(late)
		noise.Slices = append(noise.Slices, assert.Slice{
			From: time.Duration(i) * slice, P50: quantile(late, 50), P99: quantile(late, 99), Max: late[len(late)-1],
			Stood: float64(stood[i]) / float64(max(1, watched[i])), Samples: len(late),
		})
	}
	return noise
}

// magnify makes what the machine was late by what that was on a faster clock.
func magnify(n assert.Noise, c clock.Clock) assert.Noise {
	for i := range n.Slices {
		s := &n.Slices[i]
		s.From, s.P50, s.P99, s.Max = c.Scale(s.From), c.Scale(s.P50), c.Scale(s.P99), c.Scale(s.Max)
		s.Clock = float64(c.Speed())
	}
	return n
}

// quantile returns the value below which percent of the sorted list lie, between two of its values where need be: a slice
// holds about a hundred samples, and the rank above would let the single worst one stand for p99.
func quantile(sorted []time.Duration, percent int) time.Duration {
	at := (len(sorted) - 1) * percent
	low, part := sorted[at/100], at%100
	if part == 0 {
		return low
	}
	return low + (sorted[at/100+1]-low)*time.Duration(part)/100
}
