package clients

import (
	"context"
	"net/http"
	"sync"
)

// budget is a bucket of tokens: first attempts add a part of one, and each retry takes one.
type budget struct {
	ratio float64

	mu     sync.Mutex
	tokens float64
}

func (b *budget) earn() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tokens = min(b.tokens+b.ratio, 10)
}

// spend reports whether there is a token for a retry.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

const withBudget = "budget: {ratio: 0.1, reserve: 10, over: 30s}\n"

func init() {
	register(Client{
		Name:     "polite-budget",
		Summary:  "a token bucket over all its calls: a tenth of a token for each, one for a retry, ten at most",
		Contract: withBudget,
		Start: func() func(context.Context, *http.Client, string) error {
			b := &budget{ratio: 0.1, tokens: 10}
			p := polite()
			p.retry = func(o outcome) bool { return transient(o) && b.spend() }
			return func(ctx context.Context, h *http.Client, url string) error {
				b.earn()
				return p.call(ctx, h, url)
			}
		},
	})
}
