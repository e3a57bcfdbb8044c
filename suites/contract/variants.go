package contract

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// chance is how much more of the machine's time than the client usually takes for itself a wait may bear.
const chance = 2 * time.Millisecond

// own is what the client takes for itself in the i-th wait, of the machine's time.
func (p paces) own(i int) time.Duration {
	if i > 0 {
		return p.pace.Later
	}
	return p.pace.Overhead
}

// slack is how much longer than meant the i-th wait may be, by the client's clock, for what the client itself takes. Where slower
// clocks showed that of several waits, a quarter of the chance is left: with each retry a program has less to load, so that the
// later waits, which they do not show, bear less than it took in those that they do. No more than before the first retry: what seems
// to be beyond that is the start of other clients.
func (p paces) slack(i, speed int) time.Duration {
	bears := chance
	if i > 0 && p.compared {
		bears /= 4
	}
	return time.Duration(speed) * (min(p.own(0), p.own(i)) + bears)
}

// exact reports whether a clause is one that clients keep by waiting exactly as long as they are told, so that they would
// seem early if the slack were taken off. At a speed that was asked for, what it hides must be small beside the waits.
func (p paces) exact(id string, speed int) bool {
	return kindOf(id).Exact && 5*p.slack(0, speed) <= p.pace.Wait
}

// variants is a run judged once more for what the machine may have done to it.
type variants struct {
	squeezed *outcome // as if each wait had been shorter by its slack
	quiet    *outcome // as if nothing had been late
	slowed   *outcome // with the waits that glimpses showed, shorter by what these hide; nil: there are none
	alike    *outcome // as if all waits before the same retry had been equal
}

// variants judges a run once more in every way. In real time there is none: nil.
func (s *session) variants(o *outcome, r *run, look look, speed int) *variants {
	if speed == 1 {
		return nil
	}
	v := &variants{squeezed: o.variant(), quiet: o.quiet(o.calls, speed), alike: o.quiet(o.alike(), speed)}
	p := o.paced(look.paces)
	for i := range v.squeezed.calls {
		c := &o.calls[i]
		v.squeezed.calls[i].Attempts = retime(c, func(k int) time.Duration { return c.Gap(k) - p.slack(k, speed) })
	}
	s.rejudge(v.squeezed, r, look)
	s.rejudge(v.quiet, r, look)
	s.rejudge(v.alike, r, look)
	if o.sharp != nil {
		v.slowed = o.quiet(o.slowed(look.paces), speed) // on a slow clock little is late
		s.rejudge(v.slowed, r, look)
		sharp := o.quiet(o.sharp.calls, speed)
		s.rejudge(sharp, r, look)
		v.quiet.adopt(sharp)
	}
	return v
}

// alike is the calls as if the waits before each retry had all been as long as their median, after the same answer.
func (o *outcome) alike() []assert.Call {
	type place struct {
		retry int
		rule  string
	}
	waits := map[place][]time.Duration{}
	for i := range o.calls {
		for k := range len(o.calls[i].Attempts) - 1 {
			at := place{k, o.calls[i].Attempts[k].Rule}
			waits[at] = append(waits[at], o.calls[i].Gap(k))
		}
	}
	for _, list := range waits {
		slices.Sort(list)
	}
	calls := slices.Clone(o.calls)
	for i := range calls {
		c := &o.calls[i]
		calls[i].Attempts = retime(c, func(k int) time.Duration {
			list := waits[place{k, c.Attempts[k].Rule}]
			return list[len(list)/2]
		})
	}
	return calls
}

// quiet is calls, to be judged anew as if nothing had been late.
func (o *outcome) quiet(calls []assert.Call, speed int) *outcome {
	v := o.variant()
	v.calls = slices.Clone(calls)
	for i := range v.calls {
		run := *v.calls[i].Run
		run.Noise.Slices = slices.Clone(run.Noise.Slices)
		for k := range run.Noise.Slices {
			n := &run.Noise.Slices[k]
			n.P50, n.P99, n.Max = 0, n.P99/time.Duration(speed), n.Max/time.Duration(speed) // half a second's median may be one stall's
		}
		v.calls[i].Run = &run
	}
	return v
}

// adopt takes over the verdicts on clauses that are kept exactly.
func (o *outcome) adopt(sharp *outcome) {
	for id, res := range sharp.results {
		if kindOf(id).Exact {
			o.results[id] = res
		}
	}
}

func (s *session) rejudge(o *outcome, r *run, look look) {
	o.judge(s.Contract, r)
	o.weigh(healthyOf(look.Preflight), s.Contract)
}

// show reports whether a verdict would have been the same in real time. Waits that are kept exactly are too short once the
// slack is taken off; then it is what slower clocks showed of them that counts.
func (v *variants) show(j assert.Judged, verdict assert.Verdict) bool {
	id := j.Kind.ID
	if v == nil {
		return true
	}
	if verdict == assert.Inconclusive && spreads(j.Kind) && !v.alike.says(id, verdict) {
		return false // how far apart waits lie in real time may tell
	}
	return v.quiet.says(id, verdict) &&
		(v.squeezed.says(id, verdict) || kindOf(id).Exact && v.slowed != nil && v.slowed.says(id, verdict))
}

// says reports whether this is the verdict on a clause.
func (o *outcome) says(id string, verdict assert.Verdict) bool {
	return o.results[id].Verdict == verdict
}

// variant is an outcome to be judged anew.
func (o *outcome) variant() *outcome {
	return &outcome{Outcome: o.Outcome, calls: slices.Clone(o.calls), results: map[string]assert.Result{}}
}

// retime gives each wait of a call another length. No wait turns into an overlap, and attempts that overlap stay as they are.
func retime(c *assert.Call, length func(wait int) time.Duration) []journal.Entry {
	attempts := slices.Clone(c.Attempts)
	var shift time.Duration
	for i := range attempts {
		if i > 0 && c.Gap(i-1) > 0 {
			shift += c.Gap(i-1) - max(0, length(i-1))
		}
		attempts[i].At -= shift
		if attempts[i].Gone > 0 {
			attempts[i].Gone = max(1, attempts[i].Gone-shift)
		}
	}
	return attempts
}
