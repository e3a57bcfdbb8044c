package infer_test

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func ExampleGrowthOf() {
	// One call: three attempts that failed at once, the second after 1 s, the third after 2 s more, the fourth after 4 s.
	call := []journal.Entry{
		{At: 0, Status: 503},
		{At: 1 * time.Second, Status: 503},
		{At: 3 * time.Second, Status: 503},
		{At: 7 * time.Second, Status: 200},
	}
	growth := infer.GrowthOf([][]journal.Entry{call}, 0)
	fmt.Printf("each wait is %.1f times the one before, seen in %d waits; enough to decide: %v\n", growth.Factor, growth.Gaps, growth.Enough())
	// Output: each wait is 2.0 times the one before, seen in 3 waits; enough to decide: false
}
