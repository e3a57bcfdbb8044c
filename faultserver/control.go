package faultserver

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/gorilla/mux"
)

// Control is the HTTP API that drives a server from any language: its plan, its run, its journal. It stands on listeners
// of its own and answers whatever the server's exchanges are stuck in. GET /v1/openapi.json describes it; all of it is in
// the table of control_routes.go. Make it with NewControl; Close it.
type Control struct {
	server  *Server
	presets []Preset
	token   [sha256.Size]byte // its hash
	guarded bool              // a token is asked for
	router  *mux.Router

	base   context.Context // ends when this or the server is closed, and with it what waits and follows
	cancel context.CancelFunc
	unhook func() bool

	mu      sync.Mutex
	closed  bool
	servers []*http.Server // one for each listener
	serving sync.WaitGroup
}

// Preset is a plan that the control API starts by its name.
type Preset struct {
	Name, Summary string
	Plan          Plan
}

// ControlOption changes how NewControl makes a control API.
type ControlOption func(*Control)

// WithToken asks every request for the token, as in Authorization: Bearer TOKEN; "" asks for none. Addresses beyond
// loopback need one.
func WithToken(token string) ControlOption {
	return func(c *Control) { c.token, c.guarded = sha256.Sum256([]byte(token)), token != "" }
}

// WithPresets lets scenarios be started by name.
func WithPresets(presets []Preset) ControlOption { return func(c *Control) { c.presets = presets } }

// NewControl makes a control API for a server, which closes it with itself.
func NewControl(s *Server, options ...ControlOption) *Control {
	c := &Control{server: s}
	c.base, c.cancel = context.WithCancel(s.base)
	for _, o := range options {
		o(c)
	}
	c.router = c.routes()
	c.unhook = context.AfterFunc(s.base, func() { _ = c.Close() })
	return c
}

// Listen serves the API on an address, a host:port (port 0 takes a free one), and returns its URL.
func (c *Control) Listen(addr string) (url string, err error) {
	at, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return "", fmt.Errorf("faultserver: control address %q: %w", addr, err)
	}
	if err := c.allow(at); err != nil {
		return "", err
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return "", fmt.Errorf("faultserver: %w", err)
	}
	h, err := c.add()
	if err != nil {
		return "", errors.Join(err, l.Close())
	}
	go func() {
		defer c.serving.Done()
		if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			c.server.errorLog.Printf("faultserver: control listener %v: %v", l.Addr(), err)
		}
	}()
	return "http://" + l.Addr().String(), nil
}

// Serve takes connections from a listener, which it closes, until the API is closed.
func (c *Control) Serve(l net.Listener) error {
	if err := c.allow(l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	h, err := c.add()
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer c.serving.Done()
	if err := h.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("faultserver: %w", err)
	}
	return nil
}

// allow refuses addresses that other machines can reach, unless a token keeps them out.
func (c *Control) allow(addr net.Addr) error {
	at, ok := addr.(*net.TCPAddr)
	if !ok || c.guarded || at.IP.IsLoopback() {
		return nil
	}
	return fmt.Errorf("faultserver: control address %q can be reached from other machines, and whoever reaches it "+
		"controls the server; use 127.0.0.1:%d, or set a token", addr, at.Port)
}

// add makes the http.Server of another listener; the caller calls c.serving.Done when it has ended.
func (c *Control) add() (*http.Server, error) {
	h := &http.Server{
		Handler:           c,
		ReadHeaderTimeout: controlPatience,
		IdleTimeout:       controlIdle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          c.server.errorLog,
		BaseContext:       func(net.Listener) context.Context { return c.base },

		DisableGeneralOptionsHandler: true, // it is no method of any route
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errors.New("faultserver: the control API is closed")
	}
	c.servers = append(c.servers, h)
	c.serving.Add(1)
	return h, nil
}

// Close stops listening and breaks off what is going on, at once.
func (c *Control) Close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	servers := c.servers
	c.mu.Unlock()

	c.unhook()
	c.cancel()
	var all []error
	for _, h := range servers {
		all = append(all, h.Close())
	}
	c.serving.Wait()
	return errors.Join(all...)
}
