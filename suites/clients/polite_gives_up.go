package clients

import (
	"net/http"
	"time"
)

func init() {
	p := polite()
	p.retryAfter = func(h http.Header) (time.Duration, bool) {
		told, ok := keepRetryAfter(h)
		if told > time.Second {
			told = 24 * time.Hour // no call lasts that long: it ends here
		}
		return told, ok
	}
	register(Client{
		Name:    "polite-gives-up",
		Summary: "ends the call when it is told to wait longer than 1 s, which is lawful",
		Call:    p.call,
	})
}
