package clients

import (
	"context"
	"time"
)

func init() {
	p := polite()
	p.around = func(ctx context.Context, _ int, send func(context.Context) outcome) outcome {
		ctx, cancel := context.WithCancel(ctx) // the first good answer calls the other copy back
		defer cancel()
		answers := make(chan outcome, 2)
		go func() { answers <- send(ctx) }()
		select {
		case o := <-answers:
			return o
		case <-time.After(1250 * time.Millisecond):
		}
		go func() { answers <- send(ctx) }()
		if o := <-answers; !transient(o) {
			return o
		}
		return <-answers
	}
	register(Client{
		Name:     "polite-hedged-retries",
		Summary:  "sends a copy of each attempt that is not answered within 1.25 s, and retries when both have failed",
		Contract: "hedging: {after: 1200ms, max: 2, share: 0.05}\n",
		Call:     p.call,
	})
}
