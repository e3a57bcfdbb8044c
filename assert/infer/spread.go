package infer

import "time"

// Spread is how far the waits before one retry lie apart over all calls.
type Spread struct {
	Retry  int // 1: before the second attempt
	N      int
	Median time.Duration
	Width  time.Duration // from the shortest to the longest, the longest 15 % left out: a slow machine stretches a few
}

// SpreadOf measures the sorted waits before one retry; there must be some.
func SpreadOf(retry int, sorted []time.Duration) Spread {
	return Spread{retry, len(sorted), median(sorted), trimmed(sorted)}
}

// trimmed is the width of sorted gaps without the longest 15 %, rounded up.
func trimmed(sorted []time.Duration) time.Duration {
	n := len(sorted)
	return sorted[max(0, n-1-Dropped(n))] - sorted[0]
}
