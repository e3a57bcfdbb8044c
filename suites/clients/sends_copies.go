package clients

import (
	"context"
	"time"
)

func init() {
	p := polite()
	p.attempts = 3
	p.around = func(ctx context.Context, attempt int, send func(context.Context) outcome) outcome {
		if attempt > 1 {
			return send(ctx)
		}
		return copied(ctx, 1300*time.Millisecond, send)
	}
	register(Client{
		Name:    "sends-copies",
		Summary: "sends a copy of what is not answered within 1.3 s, though no hedging was agreed",
		Breaks:  []string{"single-flight"},
		Call:    p.call,
	})
}
