package clients

import (
	"net/http"
	"time"
)

func init() {
	p := polite()
	p.retryAfter = func(h http.Header) (time.Duration, bool) {
		told, ok := keepRetryAfter(h)
		return min(told, time.Minute) * 5 / 2, ok
	}
	register(Client{
		Name:    "comes-back-late",
		Summary: "waits two and a half times as long as Retry-After asks",
		Breaks:  []string{"retry-after-not-late"},
		Call:    p.call,
	})
}
