package schedule_test

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/schedule"
)

// A schedule needs no clock: it is asked about any moment.
func Example() {
	burst := schedule.Burst{On: 2 * time.Second, Every: 10 * time.Second}
	for _, at := range []time.Duration{0, 2 * time.Second, 11 * time.Second} {
		fmt.Println(at, burst.Active(at, 1))
	}
	// Output:
	// 0s true
	// 2s false
	// 11s true
}
