package clients

import (
	"net/http"
	"time"
)

// waitsAtMost is a policy that waits so long at most, whatever it is told.
func waitsAtMost(limit time.Duration) policy {
	p := polite()
	p.retryAfter = func(h http.Header) (time.Duration, bool) {
		told, ok := keepRetryAfter(h)
		return min(told, limit), ok
	}
	return p
}

func init() {
	register(Client{
		Name:     "waits-the-maximum",
		Summary:  "told to come back in a day it tries again after 5 s, where the contract wants it to give up",
		Contract: "retry-after: {max: 5s, longer: give-up}\n",
		Breaks:   []string{"retry-after-sanity"},
		Call:     waitsAtMost(5 * time.Second).call,
	})
}
