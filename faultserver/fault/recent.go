package fault

import (
	"slices"
	"sync"
	"time"
)

// recent holds when the latest requests were let through, in order: what it takes for sliding windows that are exact.
type recent struct {
	times   []time.Duration
	refused int // since the last that was let through
}

// opens returns when a rate lets the next request through: as soon as the N-th before it is Per ago.
func (r *recent) opens(rate Rate) time.Duration {
	if len(r.times) < rate.N {
		return 0
	}
	return r.times[len(r.times)-rate.N] + rate.Per
}

// within returns how many requests a rate still counts at a time, and when the oldest of them leaves its window.
func (r *recent) within(rate Rate, now time.Duration) (n int, leaves time.Duration) {
	first, _ := slices.BinarySearch(r.times, now-rate.Per+1)
	if n = len(r.times) - first; n == 0 {
		return 0, now
	}
	return n, r.times[first] + rate.Per
}

// add keeps the time of a request, and those of as many as a rate may look back on.
func (r *recent) add(now time.Duration, keep int) {
	if n := len(r.times); n > 0 {
		now = max(now, r.times[n-1]) // of requests at once, the later may be counted first
	}
	r.times = append(r.times, now)
	if len(r.times) > 2*keep {
		r.times = append(r.times[:0], r.times[len(r.times)-keep:]...)
	}
	r.refused = 0
}

// maxKnown is how many keys a generation has at most.
const maxKnown = 64 << 10

// generations is a map that forgets what it was not asked for during a lifetime, or while too many others came. Its zero
// value is empty.
type generations[K comparable, V any] struct {
	mu         sync.Mutex
	young, old map[K]*V
	since      time.Duration // the young one began
}

// get returns a key's value, which is new for a key that is not known.
func (g *generations[K, V]) get(key K, now, lifetime time.Duration) *V {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.young == nil || now-g.since >= lifetime || len(g.young) >= maxKnown {
		g.old, g.young, g.since = g.young, map[K]*V{}, now
	}
	v := g.young[key]
	if v == nil {
		if v = g.old[key]; v == nil {
			v = new(V)
		}
		g.young[key] = v
	}
	return v
}
