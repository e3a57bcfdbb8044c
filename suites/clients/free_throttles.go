package clients

import (
	"net/http"
	"time"
)

func init() {
	p := polite()
	p.within = time.Hour
	p.free = func(o outcome) bool { return o.status == http.StatusTooManyRequests }
	register(Client{
		Name:    "free-throttles",
		Summary: "does not count a 429 as an attempt, and so comes back for ever",
		Breaks:  []string{"retry-cap"},
		Call:    p.call,
	})
}
