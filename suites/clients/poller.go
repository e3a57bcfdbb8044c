package clients

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

// poller asks for ever. wait is how long it pauses behind an answer, and how many came in a row that were none.
func poller(wait func(failures int) time.Duration) func(context.Context, *http.Client, string) error {
	p := polite()
	p.timeout = 30 * time.Second
	return func(ctx context.Context, h *http.Client, url string) error {
		for failures := 0; ; {
			o := p.send(ctx, h, url, "", 1)
			if failures++; !transient(o) {
				failures = 0
			}
			if !sleep(ctx, wait(failures)) {
				return ctx.Err()
			}
		}
	}
}

const withPolling = "poll: {every: 1s}\n"

func init() {
	register(Client{
		Name:     "polite-poller",
		Summary:  "polls every second and up to a tenth more, and up to twice as seldom while it fails",
		Contract: withPolling,
		Call: poller(func(failures int) time.Duration {
			pause := time.Second + rand.N(100*time.Millisecond)
			return pause * time.Duration(10+min(10, failures)) / 10
		}),
	})
}
