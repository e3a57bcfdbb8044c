package clients

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"
)

func init() {
	register(Client{
		Name:    "seeded-jitter",
		Summary: "draws its jitter from a generator that every process seeds alike, so that all clients draw the same",
		Breaks:  []string{"jitter-present", "herd-index"},
		Call: func(ctx context.Context, h *http.Client, url string) error {
			p, draws, curve := polite(), rand.New(rand.NewPCG(1, 2)), exponential(time.Second, 8*time.Second)
			p.wait = func(retry int) time.Duration {
				return time.Duration(float64(curve(retry)) * (0.5 + 0.5*draws.Float64()))
			}
			return p.call(ctx, h, url)
		},
	})
}
