package clients

import (
	"math/rand/v2"
	"net/http"
	"time"
)

func init() {
	p := polite()
	p.wait = fullJitter(200*time.Millisecond, time.Second)
	p.retryAfter = func(h http.Header) (time.Duration, bool) {
		told, ok := keepRetryAfter(h)
		return time.Duration(float64(told) * (0.4 + 0.5*rand.Float64())), ok
	}
	register(Client{
		Name:    "jitter-undercuts-retry-after",
		Summary: "spreads what Retry-After asks for downwards, to between 40 and 90 % of it",
		Breaks:  []string{"retry-after-delta", "retry-after-date", "throttle-scope"},
		Call:    p.call,
	})
}
