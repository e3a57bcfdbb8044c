package infer_test

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// Two calls that failed at once each time: their retries waited 1 s and 2 s, and 1.2 s.
func ExampleWaits() {
	calls := [][]journal.Entry{
		{{At: 0, Status: 503}, {At: time.Second, Status: 503}, {At: 3 * time.Second, Status: 200}},
		{{At: 0, Status: 503}, {At: 1200 * time.Millisecond, Status: 200}},
	}
	for _, w := range infer.Waits(calls) {
		fmt.Printf("retry %d: %v to %v, %v in the middle (%d calls)\n", w.Retry, w.Min, w.Max, w.Median, w.N)
	}
	// Output:
	// retry 1: 1s to 1.2s, 1.1s in the middle (2 calls)
	// retry 2: 2s to 2s, 2s in the middle (1 calls)
}

func ExampleTrendOf() {
	first, second, third := []time.Duration{time.Second}, []time.Duration{2 * time.Second}, []time.Duration{4 * time.Second}
	trend := infer.TrendOf([][]time.Duration{first, second, third}, 0, 1e-4)
	fmt.Printf("each wait is %.1f times the one before\n", trend.Factor())
	// Output: each wait is 2.0 times the one before
}
