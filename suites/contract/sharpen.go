package contract

import (
	"maps"
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
)

// slowed is the calls of a run with the waits that slower clocks showed, all of them shorter by what cannot be told.
func (o *outcome) slowed(p paces) []assert.Call {
	p = o.paced(p)
	calls := slices.Clone(o.calls)
	for i := range calls {
		c := &o.calls[i]
		calls[i].Attempts = retime(c, func(k int) time.Duration {
			waits, from := o.seen.waits(c, k)
			switch {
			case from == nil:
				return c.Gap(k) - p.slack(k, o.speed())
			case from.speed == 1:
				return waits[i%len(waits)]
			}
			return waits[i%len(waits)] - p.slack(k, from.speed)
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
			if waits, from := o.seen.waits(c, k); from != nil {
				b.fast, b.slow, b.speed = append(b.fast, c.Gap(k)), append(b.slow, waits...), max(b.speed, from.speed)
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

// paced is p with what the client takes for itself in a wait, of the machine's time, as far as slower clocks tell: what those of the
// run have beyond theirs. The shortest of each are compared, as whatever was longer was so by chance. It is the least over all waits
// but the first, where it is not known; where they are drawn it is chance too, and no more than before the first.
func (o *outcome) paced(p paces) paces {
	all := o.compare()
	own := make([]time.Duration, len(all))
	drawn := false
	for k, b := range all {
		own[k] = max(0, b.fast[0]-b.slow[0]) / time.Duration(o.speed()-b.speed)
		drawn = drawn || !equal(b.slow)
	}
	if len(own) > 0 && p.pace.Overhead == 0 {
		p.pace.Overhead = own[0]
	}
	if len(own) > 1 {
		p.pace.Later, p.compared = slices.Min(own[1:]), true
		if drawn {
			p.pace.Later = min(p.pace.Later, p.pace.Overhead)
		}
	}
	return p
}

// speed is what the run was made at.
func (o *outcome) speed() int { return o.speeds[len(o.speeds)-1] }

// composed is the calls of a run with the waits that slower clocks showed: each of them once, unless all are alike. fit gets
// every wait, with the glimpse that showed it if one did, and may change it.
func (o *outcome) composed(fit func(k int, wait time.Duration, from *glimpse) time.Duration) []assert.Call {
	calls := slices.Clone(o.calls)
	for i := range calls {
		c := &o.calls[i]
		calls[i].Attempts = retime(c, func(k int) time.Duration {
			wait, from := o.seen.pick(c, i, k)
			if from == nil {
				wait = c.Gap(k)
			}
			return fit(k, wait, from)
		})
	}
	return calls
}

func asSeen(_ int, wait time.Duration, _ *glimpse) time.Duration { return wait }

// pick is what the i-th call takes of the waits that slower clocks showed before retry k; nil: nothing.
func (g glimpses) pick(c *assert.Call, i, k int) (time.Duration, *glimpse) {
	waits, from := g.waits(c, k)
	if n := len(waits); i < n || n > 0 && equal(waits) {
		return waits[i%n], from
	}
	return 0, nil
}

// hushed gives composed calls the noise that each of their waits was seen in: on a slower clock there was less of it.
func (o *outcome) hushed(composed []assert.Call) []assert.Call {
	for i := range composed {
		run := *composed[i].Run
		run.Noise.Slices = nil
		c := &o.calls[i]
		for k := range c.Attempts {
			next := c.Run.Until
			if k+1 < len(c.Attempts) {
				next = c.Attempts[k+1].At
			}
			noise := noiseIn(c.Run.Noise, c.Attempts[k].At, next)
			if _, from := o.seen.pick(c, i, k); from != nil {
				noise = from.noise
			}
			if noise.From = 0; k > 0 {
				noise.From = composed[i].Attempts[k].At + 1 // the wait before ends with that attempt
			}
			run.Noise.Slices = append(run.Noise.Slices, noise)
		}
		composed[i].Run = &run
	}
	return composed
}

// equal reports whether waits differ so little, by what the machine does or a little jitter, that counting one twice changes
// nothing in how they grow and how short they are.
func equal(waits []time.Duration) bool {
	return slices.Max(waits)-slices.Min(waits) <= slices.Min(waits)/4
}

// sharpen judges the clauses that are kept exactly by the waits that slower clocks showed: they are the client's own, and no
// longer than those of the run itself but by chance. So it does those on how far apart waits lie, by such waits alone.
func (s *session) sharpen(o *outcome, r *run, look look) {
	if len(o.seen) == 0 {
		return
	}
	o.sharp = o.variant()
	o.sharp.calls = o.hushed(o.composed(asSeen))
	s.rejudge(o.sharp, r, look)
	o.adopt(o.sharp)
	if o.early = s.early(o, r, look); o.early != nil {
		maps.Copy(o.results, o.early.results)
	}
}

// shownEarly reports whether a glimpse alone decided on a clause.
func (o *outcome) shownEarly(id string) bool {
	if o.early == nil {
		return false
	}
	_, ok := o.early.results[id]
	return ok
}

// by is the calls that a clause is judged by.
func (o *outcome) by(id string) []assert.Call {
	if o.shownEarly(id) {
		return o.early.calls
	}
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

// obeys reports whether slower clocks showed the client's waits to be those of the fast one, by its own clock: those of real time
// if they showed any, which are three times as far apart from what they would be else.
func (o *outcome) obeys() bool {
	var fast, slow time.Duration
	speed := o.speed() // of the slowest clock that showed a wait
	for _, b := range o.compare() {
		if b.speed < speed {
			fast, slow, speed = 0, 0, b.speed
		}
		if b.speed == speed {
			fast, slow = fast+b.fast[len(b.fast)/2], slow+b.slow[len(b.slow)/2]
		}
	}
	return slow > 0 && slowdown*time.Duration(speed)*fast < time.Duration(o.speed())*slow
}
