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
		ctx, cancel := context.WithCancel(ctx) // the first good answer calls the other copy back
		defer cancel()
		answers := make(chan outcome, 2)
		go func() { answers <- send(ctx) }()
		select {
		case o := <-answers:
			return o
		case <-time.After(1300 * time.Millisecond):
		}
		go func() { answers <- send(ctx) }()
		if o := <-answers; !transient(o) {
			return o
		}
		return <-answers // a copy that failed says nothing about the other
	}
	register(Client{
		Name:    "sends-copies",
		Summary: "sends a copy of what is not answered within 1.3 s, though no hedging was agreed",
		Breaks:  []string{"single-flight"},
		Call:    p.call,
	})
}
