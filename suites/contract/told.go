package contract

import (
	"cmp"
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// told is the calls of a run for those who want to know how long the client waits.
type told struct {
	waits  []assert.Call // without what the client takes for itself, where slower clocks told of that
	policy []assert.Call // with it, as those who infer know that clocks differ, and that nothing comes too early
	clocks [][]int       // how many times faster than the machine's that ran which showed each of their waits
	speed  int           // of the run
}

// told tells the calls of each run. Of waits that only a fast clock showed, too short ones to tell, nothing is said, unless no
// others are known; nor is it of those that a slower clock showed in other calls.
func (s *session) told(p paces) []told {
	all, known := make([]told, len(s.runs)), false
	for i, r := range s.runs {
		if len(r.clauses) == 0 {
			continue
		}
		all[i] = r.out.get().shown(p)
		known = known || slices.ContainsFunc(all[i].waits, func(c assert.Call) bool { return len(chosen(&c)) > 0 })
	}
	for _, t := range all {
		for i := range t.waits {
			if !known {
				t.waits[i].Untimed = 0
			}
		}
	}
	preferSlower(all)
	for _, t := range all {
		for i := range t.waits {
			t.policy[i].Untimed = t.waits[i].Untimed
		}
	}
	return all
}

// chosen are the attempts, counted from 0, that are retries after a wait of the client's own choice that is told: those before a
// server asked for one.
func chosen(c *assert.Call) (retries []int) {
	for i := 1; i < len(c.Attempts) && i != c.Untimed && c.Attempts[i-1].RetryAfter == ""; i++ {
		if c.Step(i) == assert.StepRetry {
			retries = append(retries, i)
		}
	}
	return retries
}

// timeline is the waits of a call: before which attempts they came, and how fast the clocks ran that showed them.
type timeline struct {
	call   *assert.Call
	chosen []int // attempts
	clocks []int // by attempt that they follow
	speed  int   // of the run
}

// preferSlower ends calls before the retry whose wait the run itself showed, and a slower clock in another call that goes on until
// there. Waits after network failures are no measure for those after answers.
func preferSlower(all []told) {
	var going []timeline
	for _, t := range all {
		for i := range t.waits {
			going = append(going, timeline{&t.waits[i], chosen(&t.waits[i]), t.clocks[i], t.speed})
		}
	}
	for retry := 0; len(going) > 0; retry++ {
		going = slices.DeleteFunc(going, func(l timeline) bool { return retry >= len(l.chosen) })
		slowest := map[bool]int{} // by whether it was the network that failed
		for _, l := range going {
			network, clock := l.wait(retry)
			slowest[network] = min(cmp.Or(slowest[network], clock), clock)
		}
		going = slices.DeleteFunc(going, func(l timeline) bool {
			network, clock := l.wait(retry)
			if clock < l.speed || clock == slowest[network] {
				return false
			}
			l.call.Untimed = l.chosen[retry]
			return true
		})
	}
}

// wait tells of the wait before a retry whether a network failure came before it, and how fast the clock ran that showed it.
func (l timeline) wait(retry int) (network bool, clock int) {
	before := l.chosen[retry] - 1
	return l.call.NetworkFailed(before), l.clocks[before]
}

// shown tells the calls of a run, as slower clocks showed them.
func (o *outcome) shown(p paces) told {
	t := told{slices.Clone(o.calls), slices.Clone(o.calls), make([][]int, len(o.calls)), 1}
	fast := len(o.speeds) > 0 && o.speed() > 1
	if fast {
		t.speed = o.speed()
	}
	if fast && len(o.seen) > 0 {
		t.policy = o.hushed(o.composed(asSeen))
		p = o.paced(p)
		t.waits = o.hushed(o.composed(func(k int, wait time.Duration, from *glimpse) time.Duration {
			return wait - time.Duration(o.clock(from)-1)*p.own(k)
		}))
	}
	for i := range t.waits {
		c := &t.waits[i]
		for k := range c.Attempts {
			_, from := o.seen.pick(&o.calls[i], i, k)
			t.clocks[i] = append(t.clocks[i], o.clock(from))
		}
		if fast {
			c.Untimed = o.untimed(i, c, p)
		}
		if slices.ContainsFunc(c.Attempts, func(e journal.Entry) bool { return e.RetryAfter != "" }) {
			t.policy[i] = *c // whether it came too early is not read from what its own work made longer
		}
	}
	return t
}

// clock is how fast the one ran that showed a wait: that of a glimpse, or else of the run.
func (o *outcome) clock(from *glimpse) int {
	switch {
	case from != nil:
		return from.speed
	case len(o.speeds) == 0:
		return 1
	}
	return o.speed()
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
