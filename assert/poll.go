package assert

import (
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// A poller asks for the same thing again and again, whatever the answer was. When it fails, the next time it asks is no retry.

// leastPoll is how far apart requests are at least to be taken for a poller's: a loop without waits is none.
const leastPoll = time.Second

// mostPollers bounds the routes that are watched for pollers.
const mostPollers = 1 << 16

// poll is how often a client asks for one thing while all is well.
type poll struct {
	last  time.Duration // arrival of the latest request, if it succeeded; else 0
	every time.Duration // shortest time between two of them
	seen  int           // how many such times
}

// paced notes that e asks for k.
func (g *grouper) paced(k matchKey, e *journal.Entry) {
	if e.Method != "GET" && e.Method != "HEAD" {
		return
	}
	p, known := g.pollers[k]
	if !known && len(g.pollers) >= mostPollers {
		return
	}
	if p.last > 0 {
		every := e.At - p.last
		if p.seen == 0 || every < p.every {
			p.every = every
		}
		p.seen++
	}
	p.last = 0
	if succeeded(e) {
		p.last = e.At
	}
	g.pollers[k] = p
}

// due reports whether e comes as long after last as a poller's next request does, or in time with first, which was a poller's
// if last is a retry of it: as agreed, or as seen while all was well.
func (g *grouper) due(k matchKey, first, last, e *journal.Entry) bool {
	agreed, seen := poll{every: g.key.Poll}, g.pollers[k]
	return agreed.due(last, e, true) || agreed.inTime(first, e, true) || seen.due(last, e, false) || seen.inTime(first, e, false)
}

// after notes that e came next behind prev, for the same thing.
func (p *poll) after(prev, e *journal.Entry) {
	if !succeeded(prev) {
		return
	}
	if every := e.At - prev.At; p.every == 0 || every < p.every {
		p.every = every
	}
	p.seen++
}

// due reports whether e comes as long after prev as the next request does, where the interval was agreed or seen twice.
func (p *poll) due(prev, e *journal.Entry, agreed bool) bool {
	return (e.Method == "GET" || e.Method == "HEAD") && (agreed || p.seen >= 2) && p.every >= leastPoll && e.At-prev.At >= p.every-p.every/10
}

// inTime reports whether e comes a whole number of intervals after first, as the next request of a poller does that retried the
// one before: it does not count from the last retry.
func (p *poll) inTime(first, e *journal.Entry, agreed bool) bool {
	if !p.due(first, e, agreed) {
		return false
	}
	off := (e.At - first.At) % p.every
	return min(off, p.every-off) <= p.every/10
}
