package assert

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// How long after a failure a request may still belong to the same call, unless Key.Horizon says otherwise. The first wait
// gives no hint of the client's pace; later ones are unlikely to be eight times the longest so far.
const (
	firstHorizon = time.Minute
	laterHorizon = 5 * time.Second
	neverHorizon = 10 * time.Second // after an answer that must not be retried: later it is more likely a new call
	horizonScale = 8
)

// overlap is how long before the end of an attempt its retry may seem to arrive: the server notices a little late that
// a client left or a connection broke.
const overlap = 2 * time.Millisecond

// waiting is a call whose last attempt failed.
type waiting struct {
	end   time.Duration
	chain int32
}

// queue holds the waiting calls of one request, the one that failed first in front.
type queue []waiting

func (q *queue) add(w waiting) {
	i, _ := slices.BinarySearchFunc(*q, w, func(a, b waiting) int {
		if a.end <= b.end {
			return -1
		}
		return 1
	})
	*q = slices.Insert(*q, i, w)
}

// partial stands for the body of a request that did not arrive whole: its sum says nothing.
const partial = ^uint64(0)

// match continues the call that failed first among those with the same request, or opens one. That order is the fairest
// to the client where several qualify: of all assignments it makes the shortest wait longest.
func (g *grouper) match(i int32) {
	e := &g.entries[i]
	k := matchKey{e.Client, e.Method, e.Path, e.Query, e.BodySum}
	if !e.BodyWhole {
		k.body = partial
	}
	c, ok := g.next(k, e)
	if !ok && k.body != partial {
		half := k
		half.body = partial
		c, ok = g.next(half, e)
	}
	if ok {
		g.extend(c, i)
	} else {
		c = g.open("match", i)
	}
	if failed(e) {
		q := g.waiting[k]
		if q == nil {
			q = &queue{}
			g.waiting[k] = q
		}
		q.add(waiting{e.End(), c})
	}
}

// next takes the call that e continues out of its queue.
func (g *grouper) next(k matchKey, e *journal.Entry) (int32, bool) {
	q := g.waiting[k]
	if q == nil || !g.ready(q, e) {
		return 0, false
	}
	c := (*q)[0].chain
	*q = slices.Delete(*q, 0, 1)
	if g.ready(q, e) {
		g.chains[c].ambiguous, g.chains[(*q)[0].chain].ambiguous = true, true
	}
	return c, true
}

// ready drops calls that waited too long and reports whether the front one can continue with e.
func (g *grouper) ready(q *queue, e *journal.Entry) bool {
	for len(*q) > 0 {
		w := (*q)[0]
		chain := &g.chains[w.chain]
		if w.end > e.At && (g.entries[chain.last].Delivered() || w.end > e.At+overlap) {
			return false
		}
		if e.At-w.end <= g.horizon(chain) {
			return true
		}
		*q = slices.Delete(*q, 0, 1)
	}
	return false
}

func (g *grouper) horizon(c *chain) time.Duration {
	if g.key.Horizon > 0 {
		return g.key.Horizon
	}
	h := firstHorizon
	last := &g.entries[c.last]
	switch {
	case c.longest > 0:
		h = max(laterHorizon, horizonScale*c.longest)
	case g.key.Table.after(last) == Never:
		h = neverHorizon
	}
	if asked, ok := Asked(*last, g.key.Run.Began); ok && asked > 0 {
		h = max(h, asked+asked/2)
	}
	return h
}
