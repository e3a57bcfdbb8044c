package clients

import (
	"net/http"
	"time"
)

func init() {
	p := polite()
	overflows := func(h http.Header) bool {
		told, ok := keepRetryAfter(h)
		return ok && told.Milliseconds() > 1<<31-1
	}
	p.hasty = func(o outcome) bool { return overflows(o.header) }
	p.retryAfter = func(h http.Header) (time.Duration, bool) {
		told, ok := keepRetryAfter(h)
		return told, ok && !overflows(h)
	}
	register(Client{
		Name:    "timer-overflow",
		Summary: "hands Retry-After to a timer of 31 bits of milliseconds, which fires at once beyond 24 days",
		Breaks:  []string{"retry-after-sanity"},
		Call:    p.call,
	})
}
