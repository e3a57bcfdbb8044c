package contract

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// Auto is the speed that begins fast and runs what is not certain again more slowly, down to real time.
const Auto = -1

// slowdown is how much slower what is not certain is run again.
const slowdown = 3

// paces are the speeds that a client is run at, one after the other as long as something is not certain.
type paces struct {
	speeds []int
	pace   driver.Pace
	note   string // a whole sentence, "" if there is nothing to tell
}

// pace finds out how fast the client's clock may run.
func (s *session) pace() (paces, error) {
	plain := paces{speeds: []int{1}}
	switch {
	case s.Speed == 0 || s.Speed == 1:
		return plain, nil
	case s.Upstream != nil:
		plain.note = "the upstream lives in real time, and so does the client: its clock was not made faster"
		return plain, nil
	}
	if driver.Argv(s.Client) == nil {
		plain.note = "everything ran in real time: only the clock of a command can run faster"
		return plain, nil
	}
	if _, err := driver.Faketime(); err != nil {
		if s.Speed != Auto {
			return paces{}, err
		}
		plain.note = "everything ran in real time: " + err.Error()
		return plain, nil
	}
	p, err := driver.Obeys(s.ctx, s.Client, s.opts)
	switch {
	case err != nil:
		return paces{}, err
	case !p.Obeys:
		plain.note = fmt.Sprintf("%s %s: everything ran in real time", s.Client.Name(), p.Why)
		return plain, nil
	case s.Speed != Auto:
		return paces{speeds: []int{s.Speed}, pace: p}, nil
	}
	var all []int
	for speed := p.Speed(); speed > 1; speed /= slowdown {
		all = append(all, speed)
	}
	return paces{speeds: append(all, 1), pace: p}, nil
}

// hasten runs a scenario at one speed after the other, until every verdict is certain. Each clause keeps the verdict of the
// fastest run that made it so, and of two if what it found is a breach that the machine could have made.
func (s *session) hasten(sc scenarios.Scenario, r *run, look look) *outcome {
	var last *outcome
	broken := map[string]bool{} // clauses whose breach a second run has to show too, in a run before
	speeds := look.speeds
	if !sc.Work.IsZero() || sc.Watch > 0 {
		speeds = []int{1} // work is given, and watched, by the machine's clock
	}
	for i, speed := range speeds {
		if last != nil && speed > 1 && last.span() < brief {
			continue
		}
		o := s.play(sc, r, look, speed)
		if o.err != nil {
			return o
		}
		if last != nil {
			o.settled, o.speeds = last.settled, last.speeds
		}
		o.speeds = append(o.speeds, speed)
		open := s.settle(o, r, look, broken)
		switch {
		case len(open) == 0:
			return o
		case i+1 < len(speeds):
		case speed > 1:
			if again := s.again(sc, r, look, o, broken); again != nil {
				o, open = again, s.settle(again, r, look, broken)
			}
			o.doubt(open)
		case s.suspicious(o, r):
			o.confirm(s.play(sc, r, look, 1), r)
		}
		last = o
	}
	return last
}

// again runs a scenario once more at the same speed where a breach needs a second run to stand; nil if none does.
func (s *session) again(sc scenarios.Scenario, r *run, look look, o *outcome, broken map[string]bool) *outcome {
	if len(broken) == 0 {
		return nil
	}
	again := s.play(sc, r, look, o.speeds[len(o.speeds)-1])
	if again.err != nil {
		return nil
	}
	again.settled, again.speeds = o.settled, o.speeds
	return again
}

// brief is how long clients are busy at most where real time comes next: to start them takes longer than a run in between
// would save.
const brief = 15 * time.Second

// span is how long the client was busy that was it longest, from its first request to its last.
func (o *outcome) span() (longest time.Duration) {
	first := map[string]time.Duration{}
	for _, e := range o.History.Entries {
		if at, ok := first[e.Client]; ok {
			longest = max(longest, e.End()-at)
		} else {
			first[e.Client] = e.At
		}
	}
	return longest
}

// settled is a clause's verdict that no slower run can change, with what it was found in.
type settled struct {
	assert.Result
	calls []assert.Call
	speed int
}

// settle keeps the verdicts that are certain, and returns the clauses whose are not.
func (s *session) settle(o *outcome, r *run, look look, broken map[string]bool) (open []string) {
	speed := o.speeds[len(o.speeds)-1]
	variants := s.variants(o, r, look, speed)
	for _, j := range r.clauses {
		id := j.Kind.ID
		if _, ok := o.settled[id]; ok {
			continue
		}
		res := o.results[id]
		certain := !slices.ContainsFunc(variants, func(v *outcome) bool {
			return v.results[id].Verdict != res.Verdict && (v != variants[0] || !look.exact(id, speed))
		})
		if bendable(j, res) && certain {
			certain = broken[id]
			if broken[id] {
				res.Detail += "; a second run showed it too"
			}
			broken[id] = true
		}
		if !certain {
			open = append(open, id)
			continue
		}
		o.settled[id] = settled{res, o.calls, speed}
	}
	return open
}

// slack is how much longer than meant the i-th wait may be, by the client's clock, for what the client itself takes.
func (p paces) slack(i, speed int) time.Duration {
	own := p.pace.Overhead
	if i > 0 {
		own = p.pace.Later
	}
	return time.Duration(speed) * (own + 2*time.Millisecond)
}

// exact reports whether a clause is one that clients keep by waiting exactly as long as they are told, so that they would
// seem early if the slack were taken off. What it hides must then be small beside the waits.
func (p paces) exact(id string, speed int) bool {
	return kindOf(id).Exact && 5*p.slack(0, speed) <= p.pace.Wait
}

// variants judges a run once more for what the machine may have done to it: as if each wait had been shorter by its slack,
// and as if nothing had been late. In real time there are none.
func (s *session) variants(o *outcome, r *run, look look, speed int) []*outcome {
	if speed == 1 {
		return nil
	}
	squeezed, quiet := o.variant(), o.variant()
	for i := range squeezed.calls {
		squeezed.calls[i].Attempts = squeeze(squeezed.calls[i], func(k int) time.Duration { return look.slack(k, speed) })
	}
	for i := range quiet.calls {
		run := *quiet.calls[i].Run
		run.Noise.Slices = slices.Clone(run.Noise.Slices)
		for k := range run.Noise.Slices {
			n := &run.Noise.Slices[k]
			n.P50, n.P99, n.Max = n.P50/time.Duration(speed), n.P99/time.Duration(speed), n.Max/time.Duration(speed)
		}
		quiet.calls[i].Run = &run
	}
	for _, v := range []*outcome{squeezed, quiet} {
		v.judge(s.Contract, r)
		v.weigh(healthyOf(look.Preflight), s.Contract)
	}
	return []*outcome{squeezed, quiet}
}

// variant is an outcome to be judged anew.
func (o *outcome) variant() *outcome {
	return &outcome{Outcome: o.Outcome, calls: slices.Clone(o.calls), results: map[string]assert.Result{}}
}

// squeeze makes each wait of a call shorter, but no wait turns into an overlap.
func squeeze(c assert.Call, by func(wait int) time.Duration) []journal.Entry {
	attempts := slices.Clone(c.Attempts)
	var shift time.Duration
	for i := range attempts {
		if i > 0 {
			shift += max(0, min(by(i-1), c.Gap(i-1)))
		}
		attempts[i].At -= shift
		if attempts[i].Gone > 0 {
			attempts[i].Gone = max(1, attempts[i].Gone-shift)
		}
	}
	return attempts
}

// doubt makes what is not certain at the speed that was asked for undecided.
func (o *outcome) doubt(open []string) {
	for _, id := range open {
		res := o.results[id]
		if res.Verdict == assert.Pass || res.Verdict == assert.Fail {
			res.Detail = fmt.Sprintf("%s at this speed, but what the machine and the client itself take is too large a part of the waits (%s); "+
				"--speed auto runs it again more slowly", res.Verdict, res.Detail)
			res.Verdict, res.Witness = assert.Inconclusive, nil
			o.results[id] = res
		}
	}
}

// of returns a clause's verdict with the calls that it was found in.
func (o *outcome) of(id string) (assert.Result, []assert.Call) {
	if found, ok := o.settled[id]; ok {
		return found.Result, found.calls
	}
	return o.results[id], o.calls
}

// slower tells how many verdicts took more than the fastest run.
func (s *session) slower() string {
	look := s.look.get()
	if look.err != nil || look.speeds[0] == 1 {
		return ""
	}
	counts := map[int]int{}
	for _, r := range s.runs {
		if o := r.out.get(); len(r.clauses) > 0 && o.err == nil && len(o.speeds) > 0 { // it ran
			for _, j := range r.clauses {
				speed := o.speeds[len(o.speeds)-1]
				if found, ok := o.settled[j.Kind.ID]; ok {
					speed = found.speed
				}
				counts[speed]++
			}
		}
	}
	var parts []string
	for _, speed := range look.speeds[1:] {
		at := fmt.Sprintf("at speed %d", speed)
		if speed == 1 {
			at = "in real time"
		}
		if n := counts[speed]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, at))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "verdicts that were not certain at this speed came from slower runs: " + strings.Join(parts, ", ")
}
