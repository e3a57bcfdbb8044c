package clients

import (
	"net/http"
	"time"
)

func init() {
	p := polite()
	p.wait = fullJitter(200*time.Millisecond, time.Second)
	p.retryAfter = func(h http.Header) (time.Duration, bool) {
		told, ok := keepRetryAfter(h)
		return told / 1000, ok
	}
	register(Client{
		Name:    "seconds-as-milliseconds",
		Summary: "takes the seconds of Retry-After for milliseconds",
		Breaks:  []string{"retry-after-delta", "retry-after-date", "throttle-scope"},
		Call:    p.call,
	})
}
