package clients

import (
	"context"
	"time"
)

func init() {
	p := polite()
	p.around = func(ctx context.Context, _ int, send func(context.Context) outcome) outcome {
		o := send(ctx)
		if ctx.Err() == context.Canceled {
			sleep(context.Background(), time.Second)
			return send(context.WithoutCancel(ctx))
		}
		return o
	}
	register(Client{
		Name:    "retries-the-cancelled",
		Summary: "takes the cancellation of an attempt for a failure and tries once more",
		Breaks:  []string{"no-retry-after-cancel"},
		Call:    p.call,
	})
}
