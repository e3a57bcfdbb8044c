package clients

import (
	"math/rand/v2"
	"net/http"
	"time"
)

func init() {
	p := polite()
	p.retryAfter = func(h http.Header) (time.Duration, bool) {
		told, ok := keepRetryAfter(h)
		return told + time.Duration(rand.Float64()*0.3*float64(told)), ok
	}
	register(Client{
		Name:    "polite-late-retry-after",
		Summary: "adds up to 30 % to what Retry-After asks for, so that not all come back at once",
		Call:    p.call,
	})
}
