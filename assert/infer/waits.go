package infer

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Summary describes the waits before one retry over all calls.
type Summary struct {
	Retry                  int // 1: before the second attempt
	N                      int
	Min, Median, Max, Mean time.Duration
}

// Waits sums up the waits that clients chose by themselves (those that a Retry-After directed are left out), one row for
// each retry that any call made, in order.
func Waits(calls [][]journal.Entry) []Summary {
	var rows []Summary
	for i, gaps := range chosen(calls) {
		if len(gaps) > 0 {
			rows = append(rows, Summary{i + 1, len(gaps), gaps[0], median(gaps), gaps[len(gaps)-1], mean(gaps)})
		}
	}
	return rows
}

// chosen collects the undirected waits by retry, each list sorted.
func chosen(calls [][]journal.Entry) [][]time.Duration {
	var by [][]time.Duration
	for _, attempts := range calls {
		n := 0
		for i := 1; i < len(attempts); i++ {
			prev, next := &attempts[i-1], &attempts[i]
			if !IsRetry(prev, next) {
				continue
			}
			if n == len(by) {
				by = append(by, nil)
			}
			if prev.RetryAfter == "" {
				by[n] = append(by[n], next.At-prev.End())
			}
			n++
		}
	}
	for _, gaps := range by {
		slices.Sort(gaps)
	}
	return by
}

func median(sorted []time.Duration) time.Duration {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func mean(gaps []time.Duration) time.Duration {
	var sum float64
	for _, g := range gaps {
		sum += float64(g)
	}
	return time.Duration(sum / float64(len(gaps)))
}
