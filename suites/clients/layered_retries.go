package clients

import (
	"context"
	"net/http"
	"time"
)

func init() {
	p := polite()
	p.attempts, p.wait = 3, between(exponential(400*time.Millisecond, time.Second), 0.8, 1.2)
	call := func(ctx context.Context, h *http.Client, url string) (err error) {
		for try := range 3 {
			if err = p.call(ctx, h, url); err == nil || !sleep(ctx, p.wait(try+1)) {
				break
			}
		}
		return err
	}
	register(Client{
		Name:    "layered-retries",
		Summary: "three tries around a library that itself makes three: nine requests, whose waits start over each time",
		Breaks:  []string{"no-retry-4xx", "auth-refresh-once", "special-4xx", "no-retry-permanent-5xx", "retry-cap", "amplification-factor", "identical-payload-rate"},
		Call:    call,
	})
}
