package driver

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/memnet"
)

const (
	beat       = 50 * time.Millisecond // how long the canary sleeps between requests
	slowest    = time.Minute           // and at most where nothing is ever late, as in virtual time
	maxSamples = 1 << 18               // about four hours
)

// Canary is the harness's own client: it sleeps 50 ms, sends a request over a kept connection on loopback, and starts
// over. How late its requests arrive is how far the machine itself bends time. One canary serves any number of scenarios
// that run side by side, and lives only while there are any.
type Canary struct {
	memory bool // it lives over a network in memory, as the clients do

	mu      sync.Mutex
	users   int
	nest    *nest
	arrived time.Time // of the latest request
	samples []sample  // in order of arrival
	changed chan struct{}
}

// NewCanary makes a canary for the runs whose Options have it.
func NewCanary() *Canary { return &Canary{changed: make(chan struct{})} }

// join starts the canary unless it lives. After the last leave it is gone; what it saw stays.
func (c *Canary) join() (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users == 0 {
		if c.nest, err = newNest(c); err != nil {
			return nil, fmt.Errorf("canary: %w", err)
		}
	}
	c.users++
	return sync.OnceFunc(c.leave), nil
}

func (c *Canary) leave() {
	c.mu.Lock()
	c.users--
	left := c.nest
	if c.users > 0 {
		left = nil
	}
	c.mu.Unlock()
	if left != nil {
		left.close()
	}
}

// nest is what a living canary is made of.
type nest struct {
	url    string
	server *http.Server
	client *http.Client
	cancel context.CancelFunc
	all    sync.WaitGroup
}

func newNest(c *Canary) (*nest, error) {
	transport := &http.Transport{DisableCompression: true}
	l, err := c.listen(transport)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := &nest{
		url:    "http://" + l.Addr().String(),
		server: &http.Server{Handler: http.HandlerFunc(c.answer), ReadHeaderTimeout: time.Minute},
		client: &http.Client{Transport: transport, Timeout: time.Minute},
		cancel: cancel,
	}
	n.all.Go(func() { _ = n.server.Serve(l) }) // ends when it is closed
	born := time.Now()                         // what begins before the first request is covered by it
	n.all.Go(func() { c.live(ctx, n, born) })
	return n, nil
}

// listen gives the canary an address that transport reaches.
func (c *Canary) listen(transport *http.Transport) (net.Listener, error) {
	if !c.memory {
		return net.Listen("tcp", "127.0.0.1:0")
	}
	network := new(memnet.Network)
	transport.DialContext = network.DialContext
	return network.Listen("")
}

func (n *nest) close() {
	n.cancel()
	_ = n.server.Close() // nothing is left to lose
	n.client.CloseIdleConnections()
	n.all.Wait()
	n.client.CloseIdleConnections() // one that came back meanwhile
}

// answer notes when a request arrives, as the journal does for those of the clients under test.
func (c *Canary) answer(w http.ResponseWriter, _ *http.Request) {
	now := time.Now()
	c.mu.Lock()
	c.arrived = now
	c.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (c *Canary) live(ctx context.Context, n *nest, last time.Time) {
	c.ping(ctx, n) // opens the connection, which takes its own time
	for pause := beat; ctx.Err() == nil; {
		due := time.Now().Add(pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		if arrived := c.ping(ctx, n); ctx.Err() == nil {
			late := max(0, arrived.Sub(due))
			c.add(sample{after: last, due: due, late: late})
			last = arrived
			if pause = min(2*pause, slowest); late > 0 || !c.memory {
				pause = beat
			}
		}
	}
}

// ping sends one request and returns when it arrived; one that fails counts as arriving when it fails.
func (c *Canary) ping(ctx context.Context, n *nest) (arrived time.Time) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url, nil)
	if err != nil {
		return time.Now()
	}
	response, err := n.client.Do(request)
	if err != nil {
		return time.Now()
	}
	_ = response.Body.Close() // it is empty
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.arrived
}

func (c *Canary) add(s sample) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.samples) == maxSamples {
		c.samples = slices.Delete(c.samples, 0, maxSamples/4)
	}
	c.samples = append(c.samples, s)
	close(c.changed)
	c.changed = make(chan struct{})
}

// noise returns what the canary saw during the time that began then and lasted so long, in slices on the clock of that
// time. It waits for the request that was due when that time ended, so that the end is covered too; the caller must
// have joined. What is late by more than stall is one: see cut.
func (c *Canary) noise(ctx context.Context, began time.Time, lasted, slice, stall time.Duration) assert.Noise {
	end := began.Add(lasted)
	for {
		c.mu.Lock()
		n, changed := len(c.samples), c.changed
		if n > 0 && !c.samples[n-1].due.Before(end) || ctx.Err() != nil {
			defer c.mu.Unlock()
			return cut(c.samples, began, lasted, slice, stall)
		}
		c.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}
