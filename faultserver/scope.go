package faultserver

import (
	"fmt"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

// Scope says over what a rule counts hits and measures elapsed time.
type Scope uint8

// The scopes. A call is known by the id that its requests carry (see identity.go), else by client, method, path, query
// and body; its counters start anew once it got an answer that no rule touched.
const (
	PerAll Scope = iota
	PerClient
	PerCall
)

var scopeNames = [...]string{"all", "client", "call"}

// String gives the word that files use.
func (s Scope) String() string { return scopeNames[s] }

// MarshalText writes the word that files use.
func (s Scope) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word that files use.
func (s *Scope) UnmarshalText(text []byte) error {
	for i, name := range scopeNames {
		if name == string(text) {
			*s = Scope(i)
			return nil
		}
	}
	return fmt.Errorf("unknown scope %q%s", text, registry.Suggest(string(text), scopeNames[:]))
}

// JSONSchema lists the words that files use.
func (Scope) JSONSchema() map[string]any { return map[string]any{"enum": scopeNames[:]} }

// generation is how many keys a tally holds before it begins to forget those that were not seen for as many new ones.
const generation = 64 << 10

// tally counts the hits of one rule, key by key. Its memory is bounded, so that a server can run for weeks.
type tally struct {
	mu          sync.Mutex
	keys        int // keys seen so far
	now, before map[uint64]count
}

// count is what a tally knows of one key.
type count struct {
	hits  int
	order int           // the key was the order-th new one, from 0
	first time.Duration // when its first hit came
	on    int           // hits that the schedule was on for
	acts  bool          // this hit is one of them
}

// hit counts a request that arrived at a time, and returns the count with it.
func (t *tally) hit(key uint64, at time.Duration, when schedule.Schedule) count {
	t.mu.Lock()
	defer t.mu.Unlock()
	c, ok := t.now[key]
	if !ok {
		c, ok = t.before[key]
		if !ok {
			c = count{order: t.keys, first: at}
			t.keys++
		}
		if t.now == nil || len(t.now) >= generation {
			t.before, t.now = t.now, map[uint64]count{}
		}
	}
	c.hits++
	c.first = min(c.first, at) // of two requests at once, the later may be counted first
	if c.acts = when.Active(max(0, at-c.first), c.hits); c.acts {
		c.on++
	}
	t.now[key] = c
	return c
}

// forget makes the next hit of key the first of a new one.
func (t *tally) forget(key uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.now, key)
	delete(t.before, key)
}
