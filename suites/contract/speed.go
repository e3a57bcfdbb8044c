package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert"
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

	compared bool // what the client takes for itself is what slower clocks showed of it, of more waits than the first
	untried  bool // whether the client obeys a faster clock is for the run itself to show
}

// ladder is a speed and all slower ones that what is not certain is run again at.
func ladder(speed int) (all []int) {
	for ; speed > 1; speed /= slowdown {
		all = append(all, speed)
	}
	return append(all, 1)
}

// pace finds out how fast the client's clock may run. Where a single scenario is run with glimpses, a trial would take longer than
// it saves: those show whether the client obeys.
func (s *session) pace() (paces, error) {
	note, err := s.unfit()
	switch {
	case err != nil:
		return paces{}, err
	case note != "" || s.realTime():
		return paces{speeds: []int{1}, note: note}, nil
	case s.alone() != nil:
		return paces{speeds: ladder(driver.Fastest), untried: true}, nil
	}
	return s.trial()
}

// realTime reports whether no other clock was asked for.
func (s *session) realTime() bool { return s.Speed == 0 || s.Speed == 1 }

// unfit says why no faster clock can be tried, as a whole sentence; "" if it can, or was not asked for.
func (s *session) unfit() (note string, err error) {
	switch {
	case s.realTime():
		return "", nil
	case s.Upstream != nil:
		return "the upstream lives in real time, and so does the client: its clock was not made faster", nil
	case driver.Argv(s.Client) == nil:
		return "everything ran in real time: only the clock of a command can run faster", nil
	case s.Speed == Auto && driver.Shared(s.Client):
		return "everything ran in real time: threads of one process may stand still on a faster clock (--speed 10 takes that risk)", nil
	}
	if _, err := driver.Faketime(); err != nil {
		if s.Speed != Auto {
			return "", err
		}
		return "everything ran in real time: " + err.Error(), nil
	}
	return "", nil
}

// alone is the run of the only scenario there is, if slower clocks are looked at for it; nil: it is not so.
func (s *session) alone() *run {
	var only *run
	for _, r := range s.runs {
		if len(r.clauses) == 0 {
			continue
		}
		if only != nil {
			return nil
		}
		only = r
	}
	if only == nil || !s.glances(only, driver.Fastest) || unhurried(only.scenario) || driver.Static(s.Client) {
		return nil
	}
	return only
}

// trial finds out by a run of its own how fast the client's clock may run.
func (s *session) trial() (paces, error) {
	plain := paces{speeds: []int{1}}
	retries := 2
	if s.Speed == Auto {
		retries = 1 // glimpses tell the rest
	}
	p, err := driver.Obeys(s.ctx, s.Client, s.opts, retries)
	switch {
	case err != nil:
		return paces{}, err
	case !p.Obeys:
		plain.note = fmt.Sprintf("%s %s: everything ran in real time", s.Client.Name(), p.Why)
		return plain, nil
	case s.Speed != Auto:
		return paces{speeds: []int{s.Speed}, pace: p}, nil
	}
	return paces{speeds: ladder(p.Speed()), pace: p}, nil
}

// again is hasten once more, with what a trial shows, for a client whose first run did not show that it obeys a faster clock.
func (s *session) again(sc scenarios.Scenario, r *run, look look) *outcome {
	p, err := s.trial()
	if err != nil {
		return &outcome{err: err}
	}
	s.tried = &p
	look.paces = p
	return s.hasten(sc, r, look)
}

// final is the look with the paces that the runs were made at.
func (s *session) final() look {
	l := s.look.get()
	if l.untried {
		s.alone().out.get()
	}
	if s.tried != nil {
		l.paces = *s.tried
	}
	return l
}

// hasten runs a scenario at one speed after the other, until every verdict is certain. Each clause keeps the verdict of the
// fastest run that made it so, and of two if what it found is a breach that the machine could have made.
func (s *session) hasten(sc scenarios.Scenario, r *run, look look) *outcome {
	var last *outcome
	broken := map[string]bool{} // clauses whose breach a second run has to show too, in a run before
	speeds := look.speeds
	if unhurried(sc) {
		speeds = []int{1}
	}
	for i, speed := range speeds {
		if last != nil && speed > 1 && (last.span() < brief || last.defies()) {
			continue
		}
		final := i+1 == len(speeds)
		o, open := s.twice(sc, r, look, speed, last, broken, final)
		if look.untried && o.err == nil && !o.obeys() {
			return s.again(sc, r, look)
		}
		look.untried, look.first = false, nil
		switch {
		case o.err != nil || len(open) == 0:
			return o
		case !final:
		case speed > 1:
			o.doubt(open)
		case s.suspicious(o, r):
			o.confirm(s.play(sc, r, look, 1, nil), r)
		}
		last = o
	}
	return last
}

// fickle is the longest time between two changes of a server for which a fast clock has a client meet others: by what it takes for
// itself, seconds there, it comes later than it would.
const fickle = 10 * time.Second

// unhurried reports whether a scenario goes by the machine's clock: work is given, and watched, by it, and processes start by it,
// so that a crowd would not come together by a faster one, and a client would not meet the same state of a server that changes often.
func unhurried(sc scenarios.Scenario) bool {
	p := sc.Plan()
	return !sc.Work.IsZero() || sc.Watch > 0 || p.Crowded() || p.Shortest() > 0 && p.Shortest() < fickle
}

// twice plays a scenario at one speed, and once more on a fast clock if that may settle what is open: all of it, or some where
// no slower run follows.
func (s *session) twice(sc scenarios.Scenario, r *run, look look, speed int, last *outcome, broken map[string]bool, final bool) (*outcome, []string) {
	o := s.try(sc, r, look, speed, last)
	if o.err != nil {
		return o, nil
	}
	open := s.settle(o, r, look, broken)
	if speed == 1 || !o.curable(open, broken, final) {
		return o, open
	}
	look.untried, look.first = false, nil // it is to show what it shows by itself
	again := s.try(sc, r, look, speed, o)
	if again.err != nil {
		return o, open
	}
	return again, s.settle(again, r, look, broken)
}

// curable reports whether a second run at the same speed may settle all that is open, or some of it in the final run: breaches
// that have to be shown twice, and what only noise left open.
func (o *outcome) curable(open []string, broken map[string]bool, final bool) bool {
	n := 0
	for _, id := range open {
		if broken[id] || o.noisy[id] {
			n++
		}
	}
	return n > 0 && (n == len(open) || final)
}

// grace is how much longer clients are watched where their clock runs faster, of the machine's time: by what it may be late
// there, what comes after a deadline must be later.
const grace = 500 * time.Millisecond

// try plays a scenario at one speed, and its beginning on slower clocks beside it; last is the outcome at a higher speed.
func (s *session) try(sc scenarios.Scenario, r *run, look look, speed int, last *outcome) *outcome {
	watch, take := func(driver.Event) {}, func(bool) glimpses { return nil }
	if s.glances(r, speed) {
		watch, take = s.glance(sc, look, speed)
	}
	if speed > 1 {
		sc.Limit = cmp.Or(sc.Limit, s.opts.Limit) + grace*time.Duration(speed)
	}
	o := s.play(sc, r, look, speed, watch)
	seen := take(o.err == nil && slices.ContainsFunc(o.calls, retried))
	if o.err != nil {
		return o
	}
	if last != nil {
		o.settled, o.speeds = last.settled, last.speeds
	}
	o.speeds, o.seen = append(o.speeds, speed), seen
	s.sharpen(o, r, look)
	return o
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
	if o.defies() {
		return r.ids()
	}
	speed := o.speed()
	variants := s.variants(o, r, look, speed)
	o.noisy = map[string]bool{}
	for _, j := range r.clauses {
		id := j.Kind.ID
		if _, ok := o.settled[id]; ok {
			continue
		}
		res := o.results[id]
		certain := o.shownEarly(id) || variants.show(j, res.Verdict) || s.Speed != Auto && variants.quiet.says(id, res.Verdict) && look.exact(id, speed)
		if bendable(j, res) && certain {
			certain = broken[id]
			if broken[id] {
				res.Detail += "; a second run showed it too"
			}
			broken[id] = true
		}
		if !certain {
			o.noisy[id] = variants != nil && !variants.quiet.says(id, res.Verdict)
			open = append(open, id)
			continue
		}
		o.settled[id] = settled{res, o.by(id), speed}
	}
	return open
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
	return o.results[id], o.by(id)
}

// slower tells how many verdicts took more than the fastest run.
func (s *session) slower() string {
	look := s.final()
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
