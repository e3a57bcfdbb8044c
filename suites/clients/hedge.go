package clients

import (
	"context"
	"net/http"
	"time"
)

// hedged sends a copy of the request whenever there is no answer after a time, so many in all, and takes the first answer
// that is one. The others are cancelled, unless they are to go on.
func hedged(p policy, after time.Duration, copies int, goOn bool) func(context.Context, *http.Client, string) error {
	return func(ctx context.Context, h *http.Client, url string) error {
		racing, cancel := context.WithCancel(ctx)
		if goOn {
			racing, cancel = context.WithoutCancel(ctx), func() {}
		}
		defer cancel()
		answers := make(chan outcome, copies)
		send := func() { answers <- p.send(racing, h, url, "", 1) }
		go send()
		timer := time.NewTicker(after)
		defer timer.Stop()
		for sent, back := 1, 0; ; {
			select {
			case o := <-answers:
				if back++; !transient(o) || back == sent {
					return o.result()
				}
			case <-timer.C:
				if sent < copies {
					sent++
					go send()
				}
			}
		}
	}
}

// copied sends a copy of an attempt that is not answered after a time. The first good answer calls the other copy back; one
// that failed says nothing about the other.
func copied(ctx context.Context, after time.Duration, send func(context.Context) outcome) outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answers := make(chan outcome, 2)
	go func() { answers <- send(ctx) }()
	select {
	case o := <-answers:
		return o
	case <-time.After(after):
	}
	go func() { answers <- send(ctx) }()
	if o := <-answers; !transient(o) {
		return o
	}
	return <-answers
}

// A copy that was agreed on is no attempt more, and here there are no others.
const (
	hedging     = "hedging: {after: 200ms, max: 2, share: 0.05}\nclauses: {retries-transient: off}\n"
	withHedging = "attempts: {max: 1, within: 30s}\n" + hedging
)

func init() {
	register(Client{
		Name:     "polite-hedge",
		Summary:  "sends a copy after 250 ms without an answer, and cancels the other when one is there",
		Contract: withHedging,
		Call:     hedged(polite(), 250*time.Millisecond, 2, false),
	})
}
