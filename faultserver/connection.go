package faultserver

import (
	"context"
	"crypto/tls"
	"hash/maphash"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// connection is what is known of a connection before anything comes over it, and the fault that stays with it.
type connection struct {
	id     uint64
	client string   // whose listener it came to; "" if it is anybody's
	host   string   // the other end's address, without the port
	conn   net.Conn // without TLS; nil on someone else's server
	talk   net.Conn // what HTTP is spoken over: conn, or TLS over it
	wire   *wire    // watches talk; nil on someone else's server

	tls     *tls.Conn            // nil: none
	problem devca.Problem        // of the certificate that it is shown
	state   *tls.ConnectionState // nil: no TLS, or none yet
	cert    string               // names the client by its certificate; "" if it showed none

	broken atomic.Bool // a fault broke it, with everything that went on over it
	rude   atomic.Bool // an answer was cut: it ends without a word, under TLS too

	mu      sync.Mutex
	program *program // that its hits were counted for
	met     bool     // when it was accepted, so that its first request is no other hit
	rule    *rule    // whose fault it holds; nil: none
	name    string   // of that fault
	held    fault.Held
}

type connectionKey struct{}

// acceptor is a listener whose connections meet the rules that act on connections.
type acceptor struct {
	net.Listener
	server *Server
	client string
	open   context.Context // ends when the listener is closed
	shut   context.CancelFunc
	last   *connection // the one that Accept returned; net/http asks for its context before it accepts another
}

// Accept waits for a connection that no fault takes, and has it watched. TLS is spoken here and not in net/http, from which it
// would hide what net/http reads.
func (l *acceptor) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{id: l.server.connections.Add(1), client: l.client, host: host(conn.RemoteAddr().String()), conn: conn}
		if over, ok := conn.(*tls.Conn); ok { // the listener speaks TLS by itself
			c.conn, c.talk, c.tls = over.NetConn(), over, over
		}
		if l.server.greet(l.open, c) {
			continue
		}
		l.server.talk(c)
		l.last, c.wire = c, &wire{Conn: c.talk, over: l, here: c}
		return c.wire, nil
	}
}

// Close stops listening, and ends what faults do with connections that they took.
func (l *acceptor) Close() error {
	l.shut()
	return l.Listener.Close()
}

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
	}
}

// follow is told by net/http what becomes of connections.
func (s *Server) follow(conn net.Conn, state http.ConnState) {
	w := conn.(*wire)
	w.follow(state)
	if state == http.StateIdle {
		w.here.idle()
	}
}

func (c *connection) idle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		c.held.Idle()
	}
}

// owner names the client as far as a connection tells it.
func (c *connection) owner() string {
	switch {
	case c.client != "":
		return c.client
	case c.cert != "":
		return c.cert
	}
	return c.host
}

// arrival is what the journal gets of an attempt of which no request was read.
func (c *connection) arrival() journal.Arrival {
	return journal.Arrival{Client: c.owner(), Conn: c.id, TLS: c.tls != nil}
}

// first notes a request, and reports whether its connection was a hit already when it was accepted.
func (c *connection) first(p *program) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.program != p { // it is from before the plan
		if c.held != nil {
			c.held.Drop()
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
