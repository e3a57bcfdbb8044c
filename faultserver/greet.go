package faultserver

import (
	"context"
	"hash/maphash"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// greet finds the rule that acts on a new connection. It reports true when its fault took the connection.
func (s *Server) greet(open context.Context, c *connection) (taken bool) {
	s.run.RLock()
	defer s.run.RUnlock()
	p := s.program.Load()
	if !p.connects {
		return false
	}
	c.program, c.met = p, true
	for _, r := range p.rules {
		if !r.connects {
			continue
		}
		spec, ok := r.takes(s, p, c, s.journal.Elapsed())
		if !ok {
			continue
		}
		if f, ok := spec.Fault().(fault.OnConnection); ok {
			s.serving.Add(1)
			go s.meet(open, c, r, spec.Name(), f)
			return true
		}
		if f, ok := spec.Fault().(fault.Lasting); ok {
			if shows, ok := f.(fault.InHandshake); ok && s.ca != nil {
				c.problem = shows.Shows()
			}
			s.hold(c, r, spec.Name(), f)
		}
		break
	}
	return false
}

// meet lets a fault have a new connection, and journals that as an attempt of which no request was read; or, if the client
// left before the fault began to act, as a connection that was not used.
func (s *Server) meet(open context.Context, c *connection, r *rule, name string, f fault.OnConnection) {
	defer s.serving.Done()
	defer func() { _ = c.conn.Close() }()
	var entry *journal.Exchange
	acted := false
	left := f.Meet(open, c.conn, func() {
		acted = true
		s.run.RLock()
		defer s.run.RUnlock()
		if s.program.Load() != c.program {
			return // it belongs to the run before
		}
		r.fired.Add(1)
		entry = s.journal.Arrive(c.arrival())
		entry.Acted(r.name, name)
		entry.Cut()
	})
	switch {
	case !acted && left && open.Err() == nil:
		s.journal.Arrive(c.arrival()).Close()
		return
	case entry == nil:
		return
	case left:
		entry.Left()
	}
	entry.Close()
}

// hold gives a connection a fault that stays with it.
func (s *Server) hold(c *connection, r *rule, name string, f fault.Lasting) {
	if c.conn != nil {
		s.talk(c)
		c.rule, c.name, c.held = r, name, f.Hold(c.talk)
		c.holds.Store(true)
	}
}

// first notes a request, and reports whether its connection was a hit already when it was accepted.
func (c *connection) first(p *program) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program != p { // it is from before the plan
		if c.held != nil {
			c.held.Drop()
			c.holds.Store(false)
		}
		c.program, c.met, c.rule, c.held = p, false, nil, nil
	}
	met := c.met
	c.met = false
	return met
}

// takes counts a hit on a connection, and gives the fault for it if the rule acts.
func (c *rule) takes(s *Server, p *program, on *connection, at time.Duration) (fault.Spec, bool) {
	var n count
	if c.counts {
		key := uint64(0)
		if c.per == PerClient {
			key = maphash.String(keySeed, on.owner())
		}
		if n = c.tally.hit(key, at, c.when); !n.acts {
			return fault.Spec{}, false
		}
	}
	if c.chance != 1 {
		l := luck{s.seed, p.hits.Add(1)}
		if c.per == PerClient {
			l = luck{mix(s.seed ^ steady(on.owner())), uint64(n.hits)}
		}
		if roll(l.seed, c.index, l.number) >= c.chance {
			return fault.Spec{}, false
		}
	}
	return c.pick(n)
}

// decideConnection has a rule that acts on connections decide about a request: it is a hit if the connection was kept alive
// and no such rule has taken it.
func (c *rule) decideConnection(x *recorder) {
	x.yield() // the connection has a lock of its own
	on := x.line
	on.mu.Lock()
	defer on.mu.Unlock()
	if on.rule == nil && !x.met && !c.handshakes {
		spec, ok := c.takes(x.server, x.program, on, x.entry.At())
		if !ok {
			return
		}
		x.met = true // the rules behind do not see it
		switch f := spec.Fault().(type) {
		case fault.OnConnection:
			x.decided, x.rule, x.fault = true, c, spec
			return
		case fault.Lasting:
			x.server.hold(on, c, spec.Name(), f)
		}
	}
	if on.rule != c {
		return
	}
	if f := on.held.Select(x, x.request); f != nil {
		x.decided, x.rule, x.fault = true, c, fault.Of(on.name, f)
	}
}
