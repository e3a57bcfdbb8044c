package clients

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

func init() {
	const base, top = 500 * time.Millisecond, 8 * time.Second
	call := func(ctx context.Context, h *http.Client, url string) error {
		p, last := polite(), base // the last wait belongs to one call: two at once must not share it
		p.wait = func(int) time.Duration {
			last = min(top, base+time.Duration(rand.Float64()*float64(3*last-base)))
			return last
		}
		return p.call(ctx, h, url)
	}
	register(Client{
		Name:    "polite-decorrelated-jitter",
		Summary: "each wait drawn from U(base, 3 x the last wait), never above 8 s",
		Call:    call,
	})
}
