package clients

import (
	"net/http"
	"time"
)

func init() {
	p := polite()
	p.retryAfter = func(h http.Header) (time.Duration, bool) {
		told, ok := keepRetryAfter(h)
		return min(told, time.Second), ok
	}
	p.wait = fullJitter(200*time.Millisecond, 800*time.Millisecond)
	register(Client{
		Name:    "cuts-retry-after",
		Summary: "never waits longer than its own 1 s, and comes back early instead of giving up",
		Breaks:  []string{"retry-after-delta", "retry-after-date", "throttle-scope"},
		Call:    p.call,
	})
}
