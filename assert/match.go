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

// mostTraced is how many waiting calls are searched for a trace id.
const mostTraced = 256

// matchKey is what the attempts of a call have in common when nothing names it. Parts of a download are different things.
type matchKey struct {
	client, method, path, query, part string
	body                              uint64
}

func matchOf(e *journal.Entry) matchKey {
	k := matchKey{client: e.Client, method: e.Method, path: e.Path, query: e.Query, body: e.BodySum}
	if !e.BodyWhole {
		k.body = partial
	}
	if e.Rare != nil {
		k.part = e.Rare.Range
	}
	return k
}

// partial stands for the body of a request that did not arrive whole: its sum says nothing.
const partial = ^uint64(0)

// waiting is a call whose last attempt, the entry, failed.
type waiting struct {
	end          time.Duration
	chain, entry int32
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

// drop takes the front one out. The rest stays where it is: a client that never retries may leave thousands waiting.
func (q *queue) drop() { *q = (*q)[1:] }

// match continues the call that failed first among those with the same request, or opens one. That order is the fairest
// to the client where several qualify: of all assignments it makes the shortest wait longest.
func (g *grouper) match(i int32) {
	e := &g.entries[i]
	k := matchOf(e)
	c, ok := g.raced(k, i)
	if !ok {
		c, ok = g.next(k, e)
	}
	if !ok && k.body != partial {
		half := k
		half.body = partial
		c, ok = g.next(half, e)
	}
	if !ok {
		c, ok = g.resumed(i)
	}
	g.paced(k, e)
	if ok {
		g.extend(c, i)
	} else {
		c = g.open(matchRule, i)
		g.relate(c, i)
	}
	if g.key.Table.fails(e) {
		g.wait(k, c, i)
	}
	g.race(k, c, i)
}

// wait lets call c be continued, whose latest entry i has failed: by the same request k, or by the one that the call began
// with, which a redirect had led away from.
func (g *grouper) wait(k matchKey, c, i int32) {
	w := waiting{endOf(&g.entries[i]), c, i}
	g.queueOf(k).add(w)
	if first := &g.entries[g.chains[c].first]; first.Path != k.path || first.Method != k.method {
		g.queueOf(matchOf(first)).add(w)
	}
}

func (g *grouper) queueOf(k matchKey) *queue {
	q := g.waiting[k]
	if q == nil {
		q = &queue{}
		g.waiting[k] = q
	}
	return q
}

// next takes the call that e continues out of its queue: one with the same trace id, else the first. A client that keeps
// its trace id over the attempts of a call would have kept it; others make a new one for each request.
func (g *grouper) next(k matchKey, e *journal.Entry) (int32, bool) {
	q := g.waiting[k]
	if q == nil || !g.ready(q, k, e) {
		return 0, false
	}
	if trace := traceOf(e); trace != (journal.Trace{}) {
		for at, w := range (*q)[:min(len(*q), mostTraced)] {
			if w.end <= e.At+overlap && g.chains[w.chain].last == w.entry && traceOf(&g.entries[w.entry]) == trace {
				*q = slices.Delete(*q, at, at+1)
				g.traced[e.Client] = true
				g.chains[w.chain].rule = traceRule
				return w.chain, true
			}
		}
		if g.traced[e.Client] && traceOf(&g.entries[(*q)[0].entry]) != (journal.Trace{}) {
			return 0, false
		}
	}
	c := (*q)[0].chain
	q.drop()
	if g.ready(q, k, e) {
		g.chains[c].ambiguous, g.chains[(*q)[0].chain].ambiguous = true, true
	}
	return c, true
}

func traceOf(e *journal.Entry) journal.Trace {
	if e.Rare == nil {
		return journal.Trace{}
	}
	return e.Rare.Trace
}

// ready drops calls that waited too long, or went on elsewhere, and reports whether the front one can continue with e.
func (g *grouper) ready(q *queue, k matchKey, e *journal.Entry) bool {
	for len(*q) > 0 {
		w := (*q)[0]
		chain := &g.chains[w.chain]
		if chain.last == w.entry {
			last := &g.entries[w.entry]
			if w.end > e.At && (last.Delivered() || w.end > e.At+overlap) {
				return false
			}
			if e.At-w.end <= g.horizon(chain) && !g.due(k, &g.entries[chain.first], last, e) {
				return true
			}
		}
		q.drop()
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
