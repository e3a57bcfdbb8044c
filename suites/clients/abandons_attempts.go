package clients

import (
	"context"
	"errors"
	"time"
)

func init() {
	p := polite()
	p.timeout = time.Hour
	p.around = func(ctx context.Context, _ int, send func(context.Context) outcome) outcome {
		answer := make(chan outcome, 1)
		go func() { answer <- send(ctx) }()
		select {
		case o := <-answer:
			return o
		case <-time.After(4 * time.Second): // it is not waited for any more, but nobody closes it
			return outcome{err: errors.New("timed out")}
		}
	}
	register(Client{
		Name:    "abandons-attempts",
		Summary: "a timeout makes it send again, but it never closes the attempt that timed out",
		Breaks:  []string{"single-flight"},
		Call:    p.call,
	})
}
