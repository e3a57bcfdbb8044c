package contract

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
)

// told is the calls of a run for those who want to know how long the client waits.
type told struct {
	waits  []assert.Call // without what the client takes for itself, which a fast clock makes longer
	policy []assert.Call // with it, as those who infer know that clocks differ, and that nothing comes too early
	speed  float64       // of the run
}

// told tells the calls of each run. Of waits that only a fast clock showed, too short ones to tell, nothing is said, unless no
// others are known; nor is it of those that a slower clock showed in other calls.
func (s *session) told(p paces) []told {
	all, known, overall := make([]told, len(s.runs)), false, s.experienced(p)
	for i, r := range s.runs {
		if len(r.clauses) == 0 {
			continue
		}
		o, p := r.out.get(), p
		if len(o.seen) == 0 {
			p = overall
		}
		all[i] = o.shown(p)
		known = known || slices.ContainsFunc(all[i].waits, func(c assert.Call) bool { return chosen(&c) > 0 })
	}
	if !known {
		each(all, func(c *assert.Call, _ float64) { c.Untimed = 0 })
	}
	slowest := slowestClocks(all)
	each(all, func(c *assert.Call, speed float64) { c.Untimed = slowest.untimed(c, speed) })
	for _, t := range all {
		for i := range t.waits {
			t.policy[i].Untimed = t.waits[i].Untimed
		}
	}
	return all
}

// each does something with every call that is told, and the speed of its run.
func each(all []told, do func(c *assert.Call, speed float64)) {
	for _, t := range all {
		for i := range t.waits {
			do(&t.waits[i], t.speed)
		}
	}
}

// chosen is how many waits of a call are of the client's own choice and told: those before a server asked for one.
func chosen(c *assert.Call) (n int) {
	for n+1 < len(c.Attempts) && c.Attempts[n].RetryAfter == "" && n+1 != c.Untimed {
		n++
	}
	return n
}

// place is where in a call a wait came: before which retry, after an answer or without one.
type place struct {
	retry   int
	network bool
}

// clocks are how many times faster than the machine's the slowest clock ran that showed waits at a place.
type clocks map[place]float64

func slowestClocks(all []told) clocks {
	slowest := clocks{}
	each(all, func(c *assert.Call, _ float64) {
		for k := range chosen(c) {
			at, clock := placed(c, k)
			if least, ok := slowest[at]; !ok || clock < least {
				slowest[at] = clock
			}
		}
	})
	return slowest
}

// untimed is the first attempt of a call behind a wait that the run itself showed and a slower clock in others, or that is not told
// anyway.
func (s clocks) untimed(c *assert.Call, speed float64) int {
	for k := range chosen(c) {
		if at, clock := placed(c, k); clock > s[at] && clock >= speed {
			return k + 1
		}
	}
	return c.Untimed
}

// placed is where the wait behind attempt k came, and how fast the clock ran that showed it.
func placed(c *assert.Call, k int) (place, float64) {
	return place{k, c.Attempts[k].Status == 0}, c.Run.Noise.Clock(c.Attempts[k].At, c.Attempts[k+1].At)
}

// experienced is p with what slower clocks showed the client to take for itself in any run. A trial shows it of few clients only,
// whose waits may be drawn.
func (s *session) experienced(p paces) paces {
	for _, r := range s.runs {
		if len(r.clauses) == 0 {
			continue
		}
		for k, own := range r.out.get().own() {
			if k == 0 {
				p.pace.Overhead = max(p.pace.Overhead, own)
			} else {
				p.pace.Later = max(p.pace.Later, own)
			}
		}
	}
	return p
}

// shown tells the calls of a run, as slower clocks showed them.
func (o *outcome) shown(p paces) told {
	if len(o.speeds) == 0 || o.speed() == 1 {
		return told{o.calls, o.calls, 1}
	}
	t := told{slices.Clone(o.calls), slices.Clone(o.calls), float64(o.speed())}
	if len(o.seen) > 0 {
		t.policy = o.hushed(o.composed(asSeen))
		p = o.paced(p)
		t.waits = o.hushed(o.composed(func(k int, wait time.Duration, from *glimpse) time.Duration {
			speed := o.speed()
			if from != nil {
				speed = from.speed
			}
			return wait - time.Duration(speed-1)*p.own(k)
		}))
	}
	for i := range t.waits {
		t.waits[i].Untimed = o.untimed(i, &t.waits[i], p)
	}
	return t
}

// mostUntimed is how large a part of a wait may be the client's own time, or the machine's lateness, for its length to be told.
const mostUntimed = 0.3

// untimed is the first attempt of the i-th call behind a wait of the client's own choice that only the fast clock showed, although
// a slower one showed those of other calls, or too short a wait for that; 0: there is none.
func (o *outcome) untimed(i int, shown *assert.Call, p paces) int {
	for k := range len(shown.Attempts) - 1 {
		if shown.Attempts[k].RetryAfter != "" {
			return 0 // what comes behind it is not read
		}
		if _, from := o.seen.pick(&o.calls[i], i, k); from != nil {
			continue
		}
		if others, _ := o.seen.waits(&o.calls[i], k); len(others) > 0 {
			return k + 1
		}
		hidden := max(p.slack(k, o.speed()), shown.Run.Noise.P99(shown.Attempts[k].At, shown.Attempts[k+1].At))
		if float64(hidden) > mostUntimed*float64(shown.Gap(k)) {
			return k + 1
		}
	}
	return 0
}

// timed ends calls where their waits are not told any more, and leaves out those of which none is.
func timed(calls []assert.Call) (some []assert.Call) {
	for _, c := range calls {
		if c.Untimed == 1 {
			continue
		}
		if c.Untimed > 0 {
			c.Attempts = c.Attempts[:c.Untimed]
		}
		some = append(some, c)
	}
	return some
}
