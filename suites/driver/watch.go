package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/journal"
)

const (
	enoughFor = 2 * time.Second // how long a client may go on after it has sent enough
	// Where the client's clock runs faster, what it does takes as long as ever: so much of the machine's time at least it has
	// to end, and a second before what it left running counts as quiet.
	enoughReal, quietReal = 300 * time.Millisecond, time.Second
	// What a command leaves running when it ends is stopped after it has sent nothing for quietFor, four times the longest
	// wait seen and half as much again as it was told to wait; or for quietFirst if there was no request at all yet.
	quietFor   = 3 * time.Second
	quietFirst = 10 * time.Second

	lookEvery = 5 * time.Millisecond   // at most, while requests rush in
	tellEvery = 100 * time.Millisecond // of progress, for each client
)

// watched is a client that runs, and what was seen of it.
type watched struct {
	name    string
	clock   clock.Clock
	stop    context.CancelCauseFunc
	started func() // lets the next client start, soon
	loaded  func() // and at once: it has come back, or ended

	began time.Time // when its first request, or connection without one, was seen

	last     journal.Entry // its latest request, as it was when it was seen
	requests int
	unused   int            // connections over which no request came
	routes   map[string]int // requests by method and path
	busiest  string         // the route that was the first to have enough
	enough   time.Time      // since when; zero: not yet

	cancelAfter time.Duration // after its first request, tells it that the caller has cancelled
	cancel      func()        // may be called again; nil: nobody cancels

	left   int           // processes that go on although the command itself has ended
	leftAt time.Duration // when it ended, on the journal's clock

	told     int // requests in the latest progress
	toldTime time.Time
	stopped  *stopped
	over     bool
}

// see counts one request.
func (w *watched) see(e *journal.Entry, enough int, now time.Time) {
	if w.requests+w.unused == 0 {
		w.began = now
		w.started()
	}
	if e.Unused() {
		w.unused++
		return
	}
	if w.requests++; w.requests == 2 {
		w.loaded()
	}
	followed := w.last.Status >= 300 && w.last.Status < 400
	w.last = *e
	route := e.Method + " " + e.Path
	if followed {
		return // a redirect was followed, which shows nothing about retries
	}
	if len(w.routes) < maxRoutes {
		w.routes[route]++
	}
	if w.enough.IsZero() && enough > 0 && w.routes[route] >= enough {
		w.busiest, w.enough = route, now
	}
}

// maxRoutes bounds what is counted of a client that never asks for the same thing twice.
const maxRoutes = 1000

// judge says why the client must be stopped now, nil if it need not. Else next is how long it may go on as it is.
func (w *watched) judge(o *Options, now time.Time) (why *stopped, next time.Duration) {
	tail := max(enoughFor, w.clock.Scale(enoughReal))
	if o.trial {
		tail = 0
	}
	switch left := tail - now.Sub(w.enough); {
	case w.unused > max(o.StormLimit, w.requests):
		return &stopped{
			why: fmt.Sprintf("was stopped after it had opened %d connections in %.2f s without a request: it would have gone on",
				w.unused, now.Sub(w.began).Seconds()),
			storm: true,
		}, 0
	case w.requests > o.StormLimit:
		return &stopped{
			why:   fmt.Sprintf("was stopped after %d requests in %.2f s: it would have gone on", w.requests, now.Sub(w.began).Seconds()),
			storm: true,
		}, 0
	case w.enough.IsZero():
		return nil, time.Hour
	case left > 0:
		return nil, left
	default:
		return &stopped{why: fmt.Sprintf("was stopped after %d requests for %s: that settles how it retries", w.routes[w.busiest], w.busiest)}, 0
	}
}

// leave notes that the command has ended at a time and n processes of it run.
func (w *watched) leave(n int, at time.Duration) {
	if w.left == 0 {
		w.leftAt = at
	}
	w.left = n
}

// idle says why what the command left running must be stopped now: nothing came from it for so long that it may be a
// daemon that waits for nothing. That proves no end: something can come still. Else next is how long it may go on.
func (w *watched) idle(j *journal.Journal) (why *stopped, next time.Duration) {
	least := time.Duration(0)
	if w.clock.Speed() > 1 {
		least = w.clock.Scale(quietReal)
	}
	since, needed := w.leftAt, max(quietFirst, least)
	var last time.Duration
	seen := false
	for _, e := range j.Entries() {
		switch {
		case e.Client != w.name:
			continue
		case e.Open && e.Gone == 0:
			return nil, time.Hour // it waits for an answer; its end will be noticed
		case !seen:
			needed = max(quietFor, least)
		default:
			needed = max(needed, 4*(e.At-last))
		}
		seen, last = true, e.End()
		since = max(since, last)
		if asked, ok := assert.Asked(e, j.Began()); ok {
			needed = max(needed, asked+asked/2)
		}
	}
	quiet := j.Elapsed() - since
	if quiet < needed {
		return nil, needed - quiet
	}
	return &stopped{left: fmt.Sprintf("after %.0f s without a request", quiet.Seconds())}, 0
}

// watch follows the journal for all clients of a scenario.
type watch struct {
	options *Options
	journal *journal.Journal
	clock   clock.Clock
	clients map[string]*watched
	seen    uint64
	tell    func(Event)
	// disconnect takes the server away from a client at once: on a busy machine, killing a process takes its time.
	disconnect func(client string)
}

// look reads what is new, stops the clients that must be, and returns after how long it must look again even if nothing
// arrives.
func (w *watch) look(now time.Time) (next time.Duration) {
	for _, e := range w.journal.After(w.seen) {
		w.seen = e.Seq
		if c := w.clients[e.Client]; c != nil {
			if c.last.Seq > 0 && c.last.Status == 0 { // answered meanwhile?
				if again := w.journal.After(c.last.Seq - 1); len(again) > 0 && again[0].Seq == c.last.Seq {
					c.last = again[0]
				}
			}
			c.see(&e, w.options.Enough, now)
		}
	}
	next = time.Hour
	for _, c := range w.clients {
		if c.over {
			continue
		}
		next = min(next, c.cancelled(now))
		if c.stopped == nil {
			why, wait := c.judge(w.options, now)
			if why == nil && c.left > 0 {
				var quiet time.Duration
				why, quiet = c.idle(w.journal)
				wait = min(wait, quiet)
			}
			if why != nil {
				why.at = w.journal.Elapsed()
				c.stopped = why
				c.stop(why)
				if why.storm {
					w.disconnect(c.name)
				}
			}
			next = min(next, max(wait, w.clock.Scale(lookEvery)))
		}
		next = min(next, w.progress(c, now))
	}
	return next
}

// cancelled tells the client that its caller has cancelled, if it is time to, and returns how long it is until then.
func (w *watched) cancelled(now time.Time) time.Duration {
	if w.cancel == nil || w.began.IsZero() {
		return time.Hour
	}
	if left := w.cancelAfter - now.Sub(w.began); left > 0 {
		return left
	}
	w.cancel()
	return time.Hour
}

// progress tells of new requests, and returns when there is more to tell.
func (w *watch) progress(c *watched, now time.Time) time.Duration {
	if c.requests == c.told {
		return time.Hour
	}
	if left := w.clock.Scale(tellEvery) - now.Sub(c.toldTime); left > 0 {
		return left
	}
	c.told, c.toldTime = c.requests, now
	w.tell(Event{Client: c.name, Kind: Sent, Requests: c.requests})
	return time.Hour
}
