package clients

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// breaker stops calls after a row of failures, and lets single probes through until one succeeds.
type breaker struct {
	failures int           // in a row, after which it opens
	open     time.Duration // until the first probe, and from one to the next; up to a tenth more at random

	mu     sync.Mutex
	failed int
	next   time.Time // when a probe may go; zero: it is closed
}

var errOpen = errors.New("the breaker is open")

// enter reports whether an attempt may be sent.
func (b *breaker) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.next.IsZero():
		return true
	case time.Now().Before(b.next):
		return false
	}
	b.wait()
	return true
}

// wait sets the time of the next probe.
func (b *breaker) wait() { b.next = time.Now().Add(b.open + rand.N(b.open/10)) }

// leave takes note of how an attempt ended.
func (b *breaker) leave(failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed {
		b.failed, b.next = 0, time.Time{}
		return
	}
	if b.failed++; b.failed >= b.failures && b.next.IsZero() {
		b.wait()
	}
}

// guarded makes calls by a policy behind a breaker of the client's own. A call that meets it open fails at once.
func guarded(p policy, build func() *breaker) func() func(context.Context, *http.Client, string) error {
	return func() func(context.Context, *http.Client, string) error {
		b := build()
		return func(ctx context.Context, h *http.Client, url string) error {
			ctx, cancel := context.WithTimeout(ctx, p.within)
			defer cancel()
			if !b.enter() {
				return errOpen
			}
			for attempt := 1; ; attempt++ {
				o := p.send(ctx, h, url, "", attempt)
				b.leave(transient(o))
				if attempt >= p.attempts || !p.retry(o) {
					return o.result()
				}
				if !sleep(ctx, p.pause(attempt, o)) {
					return ctx.Err()
				}
				if !b.enter() {
					return errOpen
				}
			}
		}
	}
}

const withBreaker = "breaker: {failures: 20, open: 5s, probes: 1}\n"

func init() {
	register(Client{
		Name:     "polite-breaker",
		Summary:  "opens after twenty failures in a row, then lets one probe through every five seconds and a bit",
		Contract: withBreaker,
		Start:    guarded(polite(), func() *breaker { return &breaker{failures: 20, open: 5 * time.Second} }),
	})
}
