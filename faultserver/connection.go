package faultserver

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

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

	peer *peer // whoever is there, for requests one after the other; nil: nobody looked yet

	holds  atomic.Bool // a fault stays with it: there is something behind mu for its requests
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

// hungUp reports whether the client sends no more: it closed the connection, or its half of it.
func (c *connection) hungUp() bool {
	if c.peer == nil {
		c.peer = peerOf(c.conn)
	}
	return c.peer.hungUp()
}
