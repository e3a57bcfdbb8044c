package playbook

import (
	"time"

	"github.com/retrygate/retrygate/assert"
)

// alarm watches one client and endpoint for more requests than a limit within a stretch of time.
type alarm struct {
	limit   assert.Rate
	times   []time.Duration // of the last limit.N arrivals, as a ring
	next    int
	raised  bool
	at      time.Duration // when it was exceeded first
	exceeds int           // arrivals that exceeded it
}

func (a *alarm) add(at time.Duration) {
	if len(a.times) < a.limit.N {
		a.times = append(a.times, at)
		return
	}
	before := a.times[a.next]
	a.times[a.next] = at
	if a.next++; a.next == len(a.times) {
		a.next = 0
	}
	if at-before < a.limit.Per && at >= before {
		if !a.raised {
			a.raised, a.at = true, at
		}
		a.exceeds++
	}
}
