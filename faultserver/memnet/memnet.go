// Package memnet is a network inside the process. Its connections behave like TCP on loopback (buffers, deadlines,
// half-close, reset) but block on nothing outside Go, so that real HTTP servers and clients run over it in the virtual
// time of a testing/synctest bubble. Make the Network inside the bubble.
package memnet

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// Network connects listeners and dialers by address. The zero value is ready for use.
type Network struct {
	mu        sync.Mutex
	listeners map[Addr]*Listener
	port      int // the latest that was given out, to listeners and dialers alike
}

// Addr is an address in a Network, in the form host:port.
type Addr string

// Network is "mem".
func (Addr) Network() string { return "mem" }

// String is the address itself.
func (a Addr) String() string { return string(a) }

// Listen listens on addr, a host:port that may have any name; "" takes a free address on 127.0.0.1.
func (n *Network) Listen(addr string) (*Listener, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := Addr(addr)
	if addr == "" {
		at = n.free()
	}
	if n.listeners[at] != nil {
		return nil, &net.OpError{Op: "listen", Net: "mem", Addr: at, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := &Listener{network: n, addr: at, incoming: make(chan net.Conn), closed: make(chan struct{})}
	if n.listeners == nil {
		n.listeners = map[Addr]*Listener{}
	}
	n.listeners[at] = l
	return l, nil
}

// DialContext connects to the listener on addr and returns when it has accepted; nothing there is "connection refused".
// It fits http.Transport.DialContext; network is ignored.
func (n *Network) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	n.mu.Lock()
	l, local := n.listeners[Addr(addr)], n.free()
	n.mu.Unlock()
	fail := func(err error) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Net: "mem", Addr: Addr(addr), Err: err}
	}
	if l == nil {
		return fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	}
	client, server := pair(local, l.addr)
	select {
	case l.incoming <- server:
		return client, nil
	case <-l.closed:
		return fail(os.NewSyscallError("connect", syscall.ECONNREFUSED))
	case <-ctx.Done():
		return fail(fmt.Errorf("nobody accepted: %w", ctx.Err()))
	}
}

// free gives out the next port. The lock is held.
func (n *Network) free() Addr {
	for {
		n.port = n.port%65535 + 1
		if a := Addr("127.0.0.1:" + strconv.Itoa(n.port)); n.listeners[a] == nil {
			return a
		}
	}
}

// Listener accepts the connections that are dialled to its address. It implements net.Listener.
type Listener struct {
	network  *Network
	addr     Addr
	incoming chan net.Conn
	close    sync.Once
	closed   chan struct{}
}

// Accept waits for the next connection, a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.incoming:
		return c, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "accept", Net: "mem", Addr: l.addr, Err: net.ErrClosed}
	}
}

// Close stops listening. Accepted connections stay open.
func (l *Listener) Close() error {
	l.close.Do(func() {
		l.network.mu.Lock()
		defer l.network.mu.Unlock()
		delete(l.network.listeners, l.addr)
		close(l.closed)
	})
	return nil
}

// Addr returns the address that the listener was given.
func (l *Listener) Addr() net.Addr { return l.addr }
