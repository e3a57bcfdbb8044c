package clients

import (
	"context"
	"sync"
	"time"
)

// gate holds back all calls of a client while the server wants it to be quiet.
type gate struct {
	mu    sync.Mutex
	until time.Time
}

type gateKey struct{}

// gateOf is the gate of the client that a call belongs to. Calls of their own have one that is always open.
func gateOf(ctx context.Context) *gate {
	if g, ok := ctx.Value(gateKey{}).(*gate); ok {
		return g
	}
	return new(gate)
}

// shut closes the gate for so long, unless it is closed for longer already.
func (g *gate) shut(wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until := time.Now().Add(wait); until.After(g.until) {
		g.until = until
	}
}

// left is how long the gate stays closed; 0 or less when it is open.
func (g *gate) left() time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	return time.Until(g.until)
}

// pass waits until the gate is open, and reports false when the context ends before that.
func (g *gate) pass(ctx context.Context) bool {
	for {
		wait := g.left()
		if wait <= 0 {
			return true
		}
		if !sleep(ctx, wait) {
			return false
		}
	}
}
