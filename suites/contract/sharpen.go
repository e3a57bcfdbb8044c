package contract

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
)

// slowed is the calls of a run with the waits that slower clocks showed, all of them shorter by what cannot be told.
func (o *outcome) slowed(p paces) []assert.Call {
	p.pace.Later = o.later(p)
	calls := slices.Clone(o.calls)
	for i := range calls {
		c := &o.calls[i]
		calls[i].Attempts = retime(c, func(k int) time.Duration {
			waits, speed := o.seen.waits(c, k)
			switch {
			case len(waits) == 0:
				return c.Gap(k) - p.slack(k, o.speed())
			case speed == 1:
				return waits[i%len(waits)]
			}
			return waits[i%len(waits)] - p.slack(k, speed)
		})
	}
	return calls
}

// both is what a run and the slower clocks showed of a wait.
type both struct {
	fast, slow []time.Duration // sorted
	speed      int             // of the slower clock
}

// compare lists the waits before each retry as far as slower clocks showed them too.
func (o *outcome) compare() (all []both) {
	for k := 0; ; k++ {
		var b both
		for i := range o.calls {
			c := &o.calls[i]
			if len(c.Attempts) < k+2 || c.Gap(k) < 0 {
				continue
			}
			if waits, speed := o.seen.waits(c, k); len(waits) > 0 {
				b.fast, b.slow, b.speed = append(b.fast, c.Gap(k)), append(b.slow, waits...), max(b.speed, speed)
			}
		}
		if len(b.fast) == 0 {
			return all
		}
		slices.Sort(b.fast)
		slices.Sort(b.slow)
		all = append(all, b)
	}
}

// later is what the client takes for itself in each wait but the first, of the machine's time: what the shortest of a run have
// beyond the shortest on a slower clock. Whatever was longer was so by chance.
func (o *outcome) later(p paces) time.Duration {
	all := o.compare()
	if len(all) < 2 {
		return p.pace.Later
	}
	own := p.pace.Overhead
	for _, b := range all[1:] {
		own = min(own, max(0, b.fast[0]-b.slow[0])/time.Duration(o.speed()-b.speed))
	}
	return own
}

// speed is what the run was made at.
func (o *outcome) speed() int { return o.speeds[len(o.speeds)-1] }

// composed is the calls of a run with the waits that slower clocks showed: each of them once, unless all are alike. The rest
// are what others says.
func (o *outcome) composed(others func(c *assert.Call, k int) time.Duration) []assert.Call {
	calls := slices.Clone(o.calls)
	for i := range calls {
		c := &o.calls[i]
		calls[i].Attempts = retime(c, func(k int) time.Duration {
			waits, _ := o.seen.waits(c, k)
			if n := len(waits); i < n || n > 0 && equal(waits) {
				return waits[i%n]
			}
			return others(c, k)
		})
	}
	return calls
}

// equal reports whether waits differ so little, by what the machine does or a little jitter, that counting one twice changes
// nothing in how they grow and how short they are.
func equal(waits []time.Duration) bool {
	return slices.Max(waits)-slices.Min(waits) <= slices.Min(waits)/4
}

// shown is the calls of a run for those who want to know how long the client waits: as slower clocks showed it, and else without
// what the client takes for itself.
func (o *outcome) shown(p paces) []assert.Call {
	if len(o.seen) == 0 {
		return o.calls
	}
	p.pace.Later = o.later(p)
	return o.composed(func(c *assert.Call, k int) time.Duration {
		return c.Gap(k) - time.Duration(o.speed())*p.own(k)
	})
}

// sharpen judges the clauses that are kept exactly by the waits that slower clocks showed: they are the client's own, and no
// longer than those of the run itself but by chance.
func (s *session) sharpen(o *outcome, r *run, look look) {
	if len(o.seen) == 0 {
		return
	}
	o.sharp = o.variant()
	o.sharp.calls = o.composed((*assert.Call).Gap)
	s.rejudge(o.sharp, r, look)
	o.adopt(o.sharp)
}

// by is the calls that a clause is judged by.
func (o *outcome) by(id string) []assert.Call {
	if o.sharp != nil && kindOf(id).Exact {
		return o.sharp.calls
	}
	return o.calls
}

// defies reports whether the client's waits in real time were much the same as on the fast clock, which it was taken to obey.
func (o *outcome) defies() bool {
	var fast, slow time.Duration
	for _, b := range o.compare() {
		if b.speed == 1 {
			fast, slow = fast+b.fast[len(b.fast)/2], slow+b.slow[len(b.slow)/2]
		}
	}
	return fast > time.Duration(max(4, o.speed()/3))*slow
}
