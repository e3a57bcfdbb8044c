package clients

import (
	"context"
	"time"
)

func init() {
	p := polite()
	p.around = func(ctx context.Context, _ int, send func(context.Context) outcome) outcome {
		return copied(ctx, 1250*time.Millisecond, send)
	}
	register(Client{
		Name:     "polite-hedged-retries",
		Summary:  "sends a copy of each attempt that is not answered within 1.25 s, and retries when both have failed",
		Contract: "hedging: {after: 1200ms, max: 2, share: 0.05}\n",
		Call:     p.call,
	})
}
