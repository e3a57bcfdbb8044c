package fault

import (
	"math/rand/v2"
	"net/http"
	"time"
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

// MaxKnown is how many clients a generation has at most.
const MaxKnown = maxKnown
