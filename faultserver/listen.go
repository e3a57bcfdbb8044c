package faultserver

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net"
	"net/http"
	"time"
)

const (
	maxHeaderBytes    = 64 << 10
	readHeaderTimeout = time.Minute            // how long strangers may take over a request's head
	closeGrace        = 500 * time.Millisecond // how long Close waits for faults that ignore their context
)

// Listen listens on another address, a host:port (port 0 takes a free one), and returns its URL. Requests there are
// journalled as client's; with "" the client is told by header, credentials or address. Addresses beyond loopback need
// AllowRemote.
func (s *Server) Listen(addr, client string) (url string, err error) {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("faultserver: listen address %q: %w", addr, err)
	}
	if err := s.allow(at); err != nil {
		return "", err
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return "", fmt.Errorf("faultserver: %w", err)
	}
	h, over, err := s.add(l, client)
	if err != nil {
		return "", errors.Join(err, l.Close())
	}
	go func() {
		defer s.serving.Done()
		if err := h.Serve(over); !errors.Is(err, http.ErrServerClosed) {
			s.errorLog.Printf("faultserver: listener %v: %v", l.Addr(), err)
		}
	}()
	return s.scheme() + l.Addr().String(), nil
}

// Serve takes connections from a listener, which it closes, until the server is closed. See Listen for client.
func (s *Server) Serve(l net.Listener, client string) error {
	if err := s.allow(l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	h, over, err := s.add(l, client)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer s.serving.Done()
	if err := h.Serve(over); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("faultserver: %w", err)
	}
	return nil
}

// allow refuses addresses that other machines can reach.
func (s *Server) allow(addr net.Addr) error {
	at, ok := addr.(*net.TCPAddr)
	if !ok || s.remote || at.IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("faultserver: listen address %q can be reached from other machines, and whoever reaches it can misuse it; "+
		"use 127.0.0.1:%d, or allow remote access if it is meant", addr, at.Port)
}

// add makes the http.Server of another listener, and the listener to serve in its place; the caller calls s.serving.Done
// when it has ended.
func (s *Server) add(l net.Listener, client string) (*http.Server, net.Listener, error) {
	over := &acceptor{Listener: l, server: s, client: client}
	over.open, over.shut = context.WithCancel(s.base)
	h := &http.Server{
		Handler:        s,
		Protocols:      new(http.Protocols),
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       s.errorLog,
		BaseContext:    func(net.Listener) context.Context { return s.base },
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, over.last)
		},
		ConnState:                    s.follow,
		DisableGeneralOptionsHandler: true, // OPTIONS * is a request like any other
	}
	if s.remote { // it costs a timer for each request, and on loopback there is nobody to defend against
		h.ReadHeaderTimeout = readHeaderTimeout
	}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, nil, errors.New("faultserver: the server is closed")
	}
	s.servers = append(s.servers, listening{h, client})
	s.serving.Add(1)
	return h, over, nil
}

// listening is the http.Server of one listener, and the client whose address it is.
type listening struct {
	*http.Server
	client string
}

// Disconnect closes the addresses that Listen and Serve gave to client, and breaks its connections off: nothing more can
// come from there.
func (s *Server) Disconnect(client string) error {
	var gone, kept []listening
	s.mu.Lock()
	for _, l := range s.servers {
		if l.client == client {
			gone = append(gone, l)
		} else {
			kept = append(kept, l)
		}
	}
	s.servers = kept
	s.mu.Unlock()
	var all []error
	for _, l := range gone {
		all = append(all, l.Close())
	}
	return errors.Join(all...)
}

// foreign makes up the connection of a request that came through someone else's http.Server.
func foreign(r *http.Request) *connection {
	return &connection{id: max(1, maphash.String(keySeed, r.RemoteAddr)), host: host(r.RemoteAddr)}
}

// host leaves the port out of an address. Ends of Unix sockets have no address: they are local.
func host(addr string) string {
	name, _, err := net.SplitHostPort(addr)
	if err != nil || name == "" {
		return "local"
	}
	return name
}

// Close ends everything at once: it stops listening, breaks off what is going on, hangs too, and frees what the server
// holds. The journal stays.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	servers := s.servers
	s.mu.Unlock()

	s.cancel()
	var all []error
	for _, h := range servers {
		all = append(all, h.Close())
	}
	s.serving.Wait()
	if s.busy.Load() > 0 {
		select {
		case <-s.idle:
		case <-time.After(closeGrace):
		}
	}
	s.backend.close()
	return errors.Join(all...)
}
