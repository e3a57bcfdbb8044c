package contract

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

const (
	// glanceTime is how much of the machine's time a glimpse takes: in real time it shows waits of 1 s and 2 s, and on a clock 6 times
	// as fast those of 4 s and 8 s as well.
	glanceTime = 3200 * time.Millisecond

	glanceStarts = 1500 * time.Millisecond // how long its clients may take to start, one after the other,
	leastGlanced = 2                       // but there are so many at least,
	mostGlanced  = 10                      // and at most
)

// glimpse is how a scenario began on a slower clock. The first waits of a client are its shortest: a fast clock shows them
// worst, by what the client takes for itself, and a slow one needs least time to show them.
type glimpse struct {
	speed   int
	out     *driver.Outcome
	noise   assert.Slice // of all of it
	calls   []assert.Call
	stopped map[string]bool // clients that would have gone on
}

// glimpses are those of one scenario, the slowest clock first.
type glimpses []glimpse

// glances reports whether a scenario is looked at on slower clocks too: it judges waits that are kept exactly, or differ.
func (s *session) glances(r *run, speed int) bool {
	return s.Speed == Auto && speed > 1 && slices.ContainsFunc(r.clauses, func(j assert.Judged) bool { return j.Kind.Exact || spreads(j.Kind) })
}

// spreads reports whether a clause judges how far apart waits lie: a fast clock draws them apart by what the machine is late.
func spreads(k assert.Kind) bool { return k.Pattern && k.Late }

// retried reports whether a call has a wait.
func retried(c assert.Call) bool { return len(c.Attempts) > 1 }

// beginning is a glimpse that goes on beside other runs.
type beginning struct {
	*lazy[glimpse]
	seated <-chan struct{} // closed when its clients have their slots
	stop   func()          // ends it
}

// begin waits until the glimpse has begun.
func (b *beginning) begin() {
	b.start()
	<-b.seated
}

// glance prepares to begin a scenario in real time, and halfway between that and the speed at which it is judged. watch, which
// gets the events of the run itself, begins as soon as a client has come back; where glimpses are also to show whether the client
// obeys its clock, the first begins now, and the other with the run. take waits for what there is to see.
func (s *session) glance(sc scenarios.Scenario, look look, speed int) (watch func(driver.Event), take func(use bool) glimpses) {
	first := look.first
	if first == nil {
		first = s.prepare(sc, 1, s.affordable(sc, look.Took))
	}
	both := []*beginning{first}
	if half := int(math.Round(math.Sqrt(float64(speed)))); half > 1 {
		both = append(both, s.prepare(sc, half, s.affordable(sc, look.Took)))
	}
	all := newLazy(func() (seen glimpses) {
		for _, b := range both {
			b.begin() // the slowest clock first
		}
		for _, b := range both {
			g := b.get()
			if g.out != nil {
				g.calls = s.calls(g.out, look)
			}
			seen = append(seen, g)
		}
		return slices.DeleteFunc(seen, func(g glimpse) bool { return len(g.calls) == 0 })
	})
	least := 2 // requests of a client that has come back
	if look.untried {
		first.begin()
		least = 1
	}
	watch = func(e driver.Event) {
		if e.Requests >= least {
			all.start()
		}
	}
	return watch, func(use bool) glimpses {
		for _, b := range both {
			defer b.stop()
			if !use {
				b.stop() // and still waits for what has begun to end
			}
		}
		return all.get()
	}
}

// slowStart is how long a client takes to start of which it is worth to begin a glimpse beside the look at it.
const slowStart = glanceStarts / (leastGlanced + 1)

// beside begins the glimpse in real time that a single scenario will need, if the look at the client takes long. done gives it, if
// it has begun and is of use.
func (s *session) beside() (done func(use bool) *beginning) {
	note, err := s.unfit()
	only := s.alone()
	if only == nil || note != "" || err != nil {
		return func(bool) *beginning { return nil }
	}
	first := s.prepare(only.scenario, 1, leastGlanced)
	begin := time.AfterFunc(slowStart, first.begin)
	return func(use bool) *beginning {
		begun := !begin.Stop()
		if begun && use {
			return first
		}
		first.stop()
		if begun {
			first.get()
		}
		return nil
	}
}

// affordable is how many clients begin a scenario on a slower clock: fewer of those that take long to start.
func (s *session) affordable(sc scenarios.Scenario, took time.Duration) int {
	return min(max(s.opts.Clients, sc.Clients, 1), mostGlanced, max(leastGlanced, int(glanceStarts/max(time.Millisecond, took))))
}

// prepare is a glimpse of a scenario on one clock, to begin later. What goes wrong there leaves it empty.
func (s *session) prepare(sc scenarios.Scenario, speed, clients int) *beginning {
	ctx, stop := context.WithCancel(s.ctx)
	seated := make(chan struct{})
	seat := sync.OnceFunc(func() { close(seated) })
	options := s.opts
	options.Speed, options.Clients, options.Seated, options.Progress, options.FromFirst = speed, clients, seat, nil, true
	sc.Clients, sc.Limit = clients, glanceTime*time.Duration(speed)
	return &beginning{newLazy(func() glimpse {
		defer seat()
		out, err := driver.Run(ctx, sc, s.Client, options)
		if err != nil {
			return glimpse{}
		}
		return glimpseOf(out, speed)
	}), seated, stop}
}

func glimpseOf(out *driver.Outcome, speed int) glimpse {
	g := glimpse{speed: speed, out: out, noise: noiseIn(out.Run.Noise, 0, out.Run.Until), stopped: map[string]bool{}}
	for _, end := range out.Ends {
		g.stopped[end.Client] = end.Stopped != ""
	}
	return g
}

// early judges how far apart waits lie by the first ones of a glimpse in real time, as far as it shows all of them; nil: there
// is none.
func (s *session) early(o *outcome, r *run, look look) *outcome {
	i := slices.IndexFunc(o.seen, func(g glimpse) bool { return g.speed == 1 })
	if i < 0 {
		return nil
	}
	g := o.seen[i]
	e := &outcome{Outcome: g.out, calls: slices.Clone(g.calls), results: map[string]assert.Result{}}
	for i := range e.calls {
		c, n := &e.calls[i], 1
		for n < len(c.Attempts) && len(g.waits(c, n-1)) > 0 {
			n++
		}
		c.Attempts = c.Attempts[:n]
	}
	s.rejudge(e, r, look)
	for id, res := range e.results {
		if !spreads(kindOf(id)) || res.Verdict != assert.Pass && res.Verdict != assert.Fail {
			delete(e.results, id)
			continue
		}
		res.Detail += "; seen in real time, beside the fast run"
		e.results[id] = res
	}
	return e
}

// waits are those that came before the same retry after the same failures on the slowest clock that shows any; nil: none does.
func (g glimpses) waits(c *assert.Call, k int) (waits []time.Duration, from *glimpse) {
	for i := range g {
		if waits = g[i].waits(c, k); len(waits) > 0 {
			return waits, &g[i]
		}
	}
	return nil, nil
}

// noiseIn is what the canary saw from one instant to another, which it begins with.
func noiseIn(n assert.Noise, from, to time.Duration) assert.Slice {
	return assert.Slice{From: from, P50: n.P50(from, to), P99: n.P99(from, to), Max: n.Max(from, to), Clock: n.Clock(from, to)}
}

// waits are none where a client was stopped meanwhile: those seen to their end would be the shorter ones.
func (g glimpse) waits(c *assert.Call, k int) (waits []time.Duration) {
	for i := range g.calls {
		other := &g.calls[i]
		switch ended := len(other.Attempts) == k+1; {
		case len(c.Attempts) <= k+1:
			return nil
		case len(other.Attempts) <= k || !alikeUntil(c, other, k):
		case ended && g.stopped[other.Client]:
			return nil
		case !ended && other.Gap(k) >= 0:
			// Of a wait that the server asked for, it is what this call makes of the time that the other was asked for.
			asked, _ := assert.Asked(c.Attempts[k], c.Run.Began)
			otherAsked, _ := assert.Asked(other.Attempts[k], other.Run.Began)
			waits = append(waits, other.Gap(k)+asked-otherAsked)
		}
	}
	return waits
}

// alikeUntil reports whether two calls met the same failures up to attempt k.
func alikeUntil(c, other *assert.Call, k int) bool {
	for i := range k + 1 {
		a, b := &c.Attempts[i], &other.Attempts[i]
		if a.Method != b.Method || a.Rule != b.Rule || a.Status != b.Status || a.Fault != b.Fault {
			return false
		}
	}
	_, bound := assert.Asked(c.Attempts[k], c.Run.Began)
	_, otherBound := assert.Asked(other.Attempts[k], other.Run.Began)
	return bound == otherBound
}
