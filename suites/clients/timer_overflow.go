package clients

import (
	"context"
	"net/http"
	"time"
)

func init() {
	call := func(ctx context.Context, h *http.Client, url string) error {
		p, over := polite(), false
		own := p.wait
		p.retryAfter = func(h http.Header) (time.Duration, bool) {
			told, ok := keepRetryAfter(h)
			over = ok && told.Milliseconds() > 1<<31-1
			return told, ok && !over
		}
		p.wait = func(retry int) time.Duration {
			if over {
				return 0
			}
			return own(retry)
		}
		return p.call(ctx, h, url)
	}
	register(Client{
		Name:    "timer-overflow",
		Summary: "hands Retry-After to a timer of 31 bits of milliseconds, which fires at once beyond 24 days",
		Breaks:  []string{"retry-after-sanity"},
		Call:    call,
	})
}
