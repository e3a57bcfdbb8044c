package fault

import (
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/retrygate/retrygate/faultserver/clock"
)

type fixedDraws struct {
	http.ResponseWriter
	random *rand.Rand
}

func (f fixedDraws) Draw() *rand.Rand { return f.random }

// DelayOf draws one delay.
func DelayOf(l *Latency, random *rand.Rand) time.Duration { return l.delay(fixedDraws{nil, random}) }

// Known returns how many clients l remembers, and how many times of requests.
func Known(l *Ratelimit) (clients, times int) {
	g := &l.limiter.clients
	for _, known := range []map[string]*client{g.young, g.old} {
		for _, c := range known {
			times += cap(c.recent.times)
		}
	}
	return len(g.young) + len(g.old), times
}

// OpensAfter returns when a limit lets the next request through that has counted some, at these times.
func OpensAfter(limit Rate, counted ...time.Duration) time.Duration {
	var r recent
	for _, at := range counted {
		r.add(at, limit.N)
	}
	return r.opens(limit)
}

// CloseLate has a timer of f come too late: a request was there already when it fired.
func CloseLate(f *IdleClose, conn net.Conn) {
	h := f.Hold(conn).(*idling)
	h.Idle()
	late := h.turn
	h.Select(nil, new(http.Request))
	h.close(late)
	h.Drop()
}

// MaxKnown is how many clients a generation has at most.
const MaxKnown = maxKnown

// LateTurns has n requests come at once to c, whose timer then fires late each time. It returns when they are done.
func LateTurns(c *Capacity, n int, late time.Duration) (done []time.Duration) {
	q, places, start := newQueue(c, clock.Clock{}), make([]*place, n), time.Now()
	for i := range places {
		places[i], _ = q.join()
	}
	for range places {
		q.advance(q.soonest().Add(late))
	}
	for _, p := range places {
		done = append(done, p.done.Sub(start).Round(time.Second))
	}
	return done
}
