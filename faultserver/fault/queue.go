package fault

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver/clock"
)

// queue is a Capacity at work. It reckons with the times at which workers are free, not with when a timer happened to fire:
// else each request would take longer by the lateness of a timer, and the rate would be lower than it says.
type queue struct {
	clock   clock.Clock
	service time.Duration
	bound   int // of those that wait; -1: none
	skip    bool

	mu      sync.Mutex
	free    []time.Time // when each worker is done with what it has
	waiting []*place    // in order; nil for a client that left
	served  int         // places that were before the first of waiting
	present int         // places in waiting whose clients are there
	timer   *time.Timer // when the first in line gets its turn; runs while someone is present
}

// place is a request's in the queue.
type place struct {
	number int
	turn   chan struct{} // closed when a worker takes the request; nil: one did at once
	done   time.Time     // when the worker is done with it; known once it is its turn
}

func newQueue(c *Capacity, by clock.Clock) *queue {
	q := &queue{clock: by, service: c.service(), bound: -1, skip: c.DropStale, free: make([]time.Time, c.workers())}
	if c.Queue != nil {
		q.bound = *c.Queue
	}
	return q
}

// join gives a request a worker, or a place in the queue; false when that is full.
func (q *queue) join() (p *place, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	q.advance(now)
	switch {
	case len(q.waiting) == 0 && !q.soonest().After(now):
		p = &place{done: q.take(now)}
	case q.bound >= 0 && len(q.waiting) >= q.bound:
		return nil, false
	default:
		p = &place{number: q.served + len(q.waiting), turn: make(chan struct{})}
		q.waiting = append(q.waiting, p)
		q.present++
	}
	q.wind(now)
	return p, true
}

// serve waits until a worker is done with a request. It reports false when the client left before.
func (q *queue) serve(ctx context.Context, p *place) bool {
	if p.turn != nil {
		select {
		case <-p.turn:
		case <-ctx.Done():
			q.leave(p)
			return false
		}
	}
	return wait(ctx, q.clock.Until(p.done))
}

// leave notes that nobody waits for a place any more. It stays in the queue: the server has not noticed yet.
func (q *queue) leave(p *place) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := p.number - q.served; i >= 0 { // else its turn came meanwhile
		q.waiting[i] = nil
		q.present--
		q.wind(q.clock.Now())
	}
}

// next gives their turns to those that waited, when the timer fires.
func (q *queue) next() {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock.Now()
	q.advance(now)
	q.wind(now)
}

// advance brings the queue to the present: each worker takes the first in line when it is free.
func (q *queue) advance(now time.Time) {
	for len(q.waiting) > 0 {
		free := q.soonest()
		if free.After(now) {
			return
		}
		p := q.waiting[0]
		q.waiting[0], q.waiting = nil, q.waiting[1:]
		q.served++
		if p == nil && q.skip {
			continue
		}
		done := q.take(free)
		if p != nil {
			q.present--
			p.done = done
			close(p.turn)
		}
	}
}

// soonest is when the first worker is free.
func (q *queue) soonest() time.Time { return slices.MinFunc(q.free, time.Time.Compare) }

// take keeps the worker that is free first busy from a time on, and returns until when.
func (q *queue) take(from time.Time) time.Time {
	w := 0
	for i, free := range q.free {
		if free.Before(q.free[w]) {
			w = i
		}
	}
	q.free[w] = from.Add(q.service)
	return q.free[w]
}

// wind sets the timer. Where nobody is present it stops: what the workers do meanwhile is reckoned when it matters.
func (q *queue) wind(now time.Time) {
	switch {
	case q.present == 0:
		if q.timer != nil {
			q.timer.Stop()
		}
	case q.timer == nil:
		q.timer = q.clock.AfterFunc(q.soonest().Sub(now), q.next)
	default:
		q.timer.Reset(q.clock.Real(q.soonest().Sub(now)))
	}
}
