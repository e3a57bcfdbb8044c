package driver

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
)

const sliceSpan = 5 * time.Second

// sample is one request of the canary: it followed the one that arrived at after, was due at due and came late.
type sample struct {
	after, due time.Time
	late       time.Duration
}

// cut sorts samples into slices. Each counts in every slice that it touches, from the request before it until it came:
// in a stall nothing arrives, and the shortest of runs lies between two requests.
func cut(samples []sample, began time.Time, lasted time.Duration) assert.Noise {
	slots := make([][]time.Duration, int(lasted/sliceSpan)+1)
	for _, s := range samples {
		from, to := s.after.Sub(began), s.due.Add(s.late).Sub(began)
		if to < 0 || from > lasted {
			continue
		}
		for i := max(0, int(from/sliceSpan)); i <= min(len(slots)-1, int(to/sliceSpan)); i++ {
			slots[i] = append(slots[i], s.late)
		}
	}
	var noise assert.Noise
	for i, late := range slots {
		if len(late) == 0 {
			continue
		}
		slices.Sort(late)
		noise.Slices = append(noise.Slices, assert.Slice{
			From: time.Duration(i) * sliceSpan, P50: quantile(late, 50), P99: quantile(late, 99), Max: late[len(late)-1],
			Samples: len(late),
		})
	}
	return noise
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
