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
}

// told tells the calls of each run. Of waits that only a fast clock showed, too short ones to tell, nothing is said, unless no
// others are known.
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
		known = known || slices.ContainsFunc(all[i].waits, func(c assert.Call) bool { return !c.Untimed && chose(c) })
	}
	for _, t := range all {
		for i := range t.waits {
			t.waits[i].Untimed = t.waits[i].Untimed && known
			t.policy[i].Untimed = t.waits[i].Untimed
		}
	}
	return all
}

// chose reports whether a call has a wait of the client's own choice.
func chose(c assert.Call) bool { return retried(c) && c.Attempts[0].RetryAfter == "" }

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
		return told{o.calls, o.calls}
	}
	t := told{slices.Clone(o.calls), slices.Clone(o.calls)}
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
		t.policy[i].Untimed = t.waits[i].Untimed
	}
	return t
}

// mostUntimed is how large a part of a wait may be the client's own time, or the machine's lateness, for its length to be told.
const mostUntimed = 0.3

// untimed reports whether the i-th call has a wait of the client's own choice that only the fast clock showed, although a slower
// one showed those of other calls, or too short a wait for that.
func (o *outcome) untimed(i int, shown *assert.Call, p paces) bool {
	for k := range len(shown.Attempts) - 1 {
		if shown.Attempts[k].RetryAfter != "" {
			return false // what comes behind it is not read
		}
		if _, from := o.seen.pick(&o.calls[i], i, k); from != nil {
			continue
		}
		if others, _ := o.seen.waits(&o.calls[i], k); len(others) > 0 {
			return true
		}
		hidden := max(p.slack(k, o.speed()), shown.Run.Noise.P99(shown.Attempts[k].At, shown.Attempts[k+1].At))
		if float64(hidden) > mostUntimed*float64(shown.Gap(k)) {
			return true
		}
	}
	return false
}

// timed leaves out the calls whose waits are not told.
func timed(calls []assert.Call) []assert.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(c assert.Call) bool { return c.Untimed })
}
