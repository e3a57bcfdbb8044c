package clients

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// holding is a breaker that keeps calls waiting in place of failing them.
type holding struct {
	breaker
	closed chan struct{} // closed when the breaker is
	mu     sync.Mutex
}

func init() {
	p := polite()
	register(Client{
		Name:    "breaker-releases-all",
		Summary: "holds calls while its breaker is open, and lets all of them go at once when a probe was served",
		Breaks:  []string{"recovery-drain"},
		Start: func() func(context.Context, *http.Client, string) error {
			b := &holding{breaker: breaker{failures: 10, open: 2 * time.Second}, closed: make(chan struct{})}
			return func(ctx context.Context, h *http.Client, url string) error { return b.call(ctx, h, url, p) }
		},
	})
}

func (b *holding) call(ctx context.Context, h *http.Client, url string, p policy) error {
	ctx, cancel := context.WithTimeout(ctx, p.within)
	defer cancel()
	for attempt := 1; ; attempt++ {
		for !b.enter() {
			b.mu.Lock()
			closed := b.closed
			b.mu.Unlock()
			select {
			case <-closed:
			case <-time.After(b.open):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		o := p.send(ctx, h, url, "", attempt)
		b.leave(transient(o))
		if !transient(o) {
			b.mu.Lock()
			close(b.closed)
			b.closed = make(chan struct{})
			b.mu.Unlock()
			return o.result()
		}
		if attempt >= p.attempts {
			return o.result()
		}
		if !sleep(ctx, p.pause(attempt, o)) {
			return ctx.Err()
		}
	}
}
