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

// due reports whether e comes as long after last as a poller's next request does: as agreed, or as seen while all was well.
func (g *grouper) due(k matchKey, last, e *journal.Entry) bool {
	if e.Method != "GET" && e.Method != "HEAD" {
		return false
	}
	if g.key.Poll >= leastPoll && e.At-last.At >= g.key.Poll-g.key.Poll/10 {
		return true
	}
	p := g.pollers[k]
	return p.due(last, e, false)
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
