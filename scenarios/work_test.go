package scenarios_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/scenarios"
)

// A client that sends three requests a call is given a third of the calls, so that the server sees the same pace.
func TestSharedWorkKeepsThePace(t *testing.T) {
	const every = 50 * time.Millisecond
	for _, tt := range []struct {
		name       string
		work       scenarios.Work
		requests   int
		want       scenarios.Work
		wantNumber int
	}{
		{"a request a call", scenarios.Work{Every: every, Calls: 900}, 1, scenarios.Work{Every: every, Calls: 900}, 900},
		{"nothing known", scenarios.Work{Every: every, Calls: 900}, 0, scenarios.Work{Every: every, Calls: 900}, 900},
		{"three requests a call", scenarios.Work{Every: every, Calls: 900}, 3, scenarios.Work{Every: 3 * every, Calls: 300}, 300},
		{"rounded up", scenarios.Work{Every: every, Calls: 10}, 4, scenarios.Work{Every: 4 * every, Calls: 3}, 3},
		{"for a while", scenarios.Work{Every: every, For: time.Second}, 2, scenarios.Work{Every: 2 * every, For: time.Second}, 10},
		{"no work", scenarios.Work{}, 3, scenarios.Work{}, 0},
	} {
		if got := tt.work.Shared(tt.requests); got != tt.want || got.Number() != tt.wantNumber {
			t.Errorf("%s: %+v with %d calls, want %+v with %d", tt.name, got, got.Number(), tt.want, tt.wantNumber)
		}
	}
}
