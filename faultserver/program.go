package faultserver

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gorilla/mux"

	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

// program is a compiled plan: one mux router, one route for each rule.
type program struct {
	plan   Plan
	router *mux.Router
	rules  []*rule
	calls  []*tally // of the rules that count per call

	ordered bool       // some rules count hits
	turn    sync.Mutex // held from arrival to the hit, so that hits are counted in the order of the journal

	connects bool          // some rules act on connections
	hits     atomic.Uint64 // of those rules, for what they decide by chance
}

// rule is a compiled Rule.
type rule struct {
	index  int
	name   string
	per    Scope
	when   schedule.Schedule
	chance float64
	steps  bool // faults[k-1] is for the k-th hit that the schedule is on for
	sweep  bool // faults[k-1] is for the k-th key
	faults []fault.Spec

	connects   bool // it acts on connections
	handshakes bool // and only while they are new
	streams    bool // it acts on nothing but HTTP/2 streams

	counts bool // hits matter to the rule
	tally  tally
	fired  atomic.Uint64
}

// compile checks the plan and makes a program of it.
func (p Plan) compile() (*program, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	p.Rules = slices.Clone(p.Rules) // Reset compiles it again, whatever the caller does with his
	done := &program{plan: p, router: newRouter()}
	for i, r := range p.Rules {
		route, err := r.Match.route(done.router, undecided)
		if err != nil {
			return nil, err
		}
		c := &rule{
			index: i, name: r.name(i), per: r.scope(), when: r.When.Schedule(), chance: 1,
			steps: len(r.Steps) > 0, sweep: len(r.Sweep) > 0, counts: r.counts() || r.scope() == PerClient,
		}
		for _, f := range r.faults() {
			c.faults = append(c.faults, f.Fresh())
		}
		c.connects, c.streams = r.onConnections(), r.onStreams()
		done.connects = done.connects || c.connects
		c.handshakes = slices.ContainsFunc(c.faults, fault.Spec.InHandshake)
		if r.Chance != nil {
			c.chance = *r.Chance
		}
		// Added last, so that mux asks it exactly once for each request that meets everything else.
		route.MatcherFunc(c.decide)
		done.rules = append(done.rules, c)
		done.ordered = done.ordered || c.counts
		if c.counts && c.per == PerCall {
			done.calls = append(done.calls, &c.tally)
		}
	}
	return done, nil
}

// decide finds the rule that acts on a request, and leaves it in x. It does not go through Router.ServeHTTP, which
// answers 404 and 405 by itself and copies the request.
func (p *program) decide(x *recorder, r *http.Request) {
	defer x.yield()
	if len(p.rules) > 0 {
		x.match.Handler = x
		p.router.Match(r, &x.match)
	}
}

// yield lets the next request be decided about. It comes early where a body has to be read first, or where a fault chooses:
// nobody waits for a client, or for code that is not the server's.
func (x *recorder) yield() {
	if x.turn {
		x.turn = false
		x.program.turn.Unlock()
	}
}

// undecided is the first matcher of every route: once a rule acts, the others are not asked.
func undecided(_ *http.Request, m *mux.RouteMatch) bool { return !m.Handler.(*recorder).decided }

// decide is the last matcher of the rule's route: it counts the hit and decides whether the rule acts. It says no to mux
// in any case, because all that mux could still do is to extract variables, which takes longer than everything before.
func (c *rule) decide(_ *http.Request, m *mux.RouteMatch) bool {
	x := m.Handler.(*recorder)
	if c.connects {
		c.decideConnection(x)
		return false
	}
	if c.streams && !x.OnStream() {
		return false // the request is no hit: the rule has nothing for it
	}
	var n count
	if c.counts {
		if n = c.tally.hit(x.key(c.per), x.entry.At(), c.when); !n.acts {
			return false
		}
	}
	if l := x.luckOf(c, n); c.chance == 1 || roll(l.seed, c.index, l.number) < c.chance {
		x.luck, x.random = l, nil
		c.act(x, n)
	}
	return false
}

// act gives x the rule's fault for this hit, unless the steps are used up or the fault leaves the request alone, as a limit
// does that is not reached. A pass only keeps the rules behind from acting.
func (c *rule) act(x *recorder, n count) {
	f, ok := c.pick(n)
	if ok = ok && (x.OnStream() || !f.OnStreams()); ok {
		if _, chooses := f.Fault().(fault.Selective); chooses {
			x.yield()
		}
		f, ok = f.Select(x, x.request)
	}
	if !ok {
		return
	}
	x.decided = true
	if !f.IsPass() {
		x.rule, x.fault = c, f
	}
}

// pick returns the fault for a hit; false when the steps are used up.
func (c *rule) pick(n count) (fault.Spec, bool) {
	switch {
	case c.steps && n.on > len(c.faults):
		return fault.Spec{}, false
	case c.steps:
		return c.faults[n.on-1], true
	case c.sweep:
		return c.faults[n.order%len(c.faults)], true
	}
	return c.faults[0], true
}

// callEnded tells the rules that a call got an answer that none of them touched.
func (p *program) callEnded(x *recorder) {
	for _, t := range p.calls {
		t.forget(x.key(PerCall))
	}
}
