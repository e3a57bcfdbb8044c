package clients

import (
	"net/http"
	"strconv"
	"time"
)

func init() {
	p := polite()
	p.wait = between(exponential(200*time.Millisecond, time.Second), 0.5, 1)
	p.retryAfter = func(h http.Header) (time.Duration, bool) {
		s, err := strconv.Atoi(h.Get("Retry-After"))
		return time.Duration(s) * time.Second, err == nil
	}
	register(Client{
		Name:    "date-as-zero",
		Summary: "reads Retry-After as a number only; a date counts as nothing",
		Breaks:  []string{"retry-after-date"},
		Call:    p.call,
	})
}
