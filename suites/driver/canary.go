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
)

const (
	beat       = 50 * time.Millisecond // how long the canary sleeps between requests
	sliceSpan  = 5 * time.Second
	maxSamples = 1 << 18 // about four hours
)

// Canary is the harness's own client: it sleeps 50 ms, sends a request over a kept connection on loopback, and starts
// over. How late its requests arrive is how far the machine itself bends time. One canary serves any number of scenarios
// that run side by side.
type Canary struct {
	url    string
	server *http.Server
	client *http.Client
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	arrived time.Time // of the latest request
	samples []sample  // in order of arrival
	changed chan struct{}
}

// sample is one request of the canary: it followed the one that arrived at after, was due at due and came late.
type sample struct {
	after, due time.Time
	late       time.Duration
}

// StartCanary starts a canary. Stop it in the end.
func StartCanary() (*Canary, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("canary: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &Canary{
		url:     "http://" + l.Addr().String(),
		client:  &http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: time.Minute},
		cancel:  cancel,
		done:    make(chan struct{}),
		changed: make(chan struct{}),
	}
	c.server = &http.Server{Handler: http.HandlerFunc(c.answer), ReadHeaderTimeout: time.Minute}
	served := make(chan struct{})
	go func() { defer close(served); c.server.Serve(l) }()
	first := c.ping(ctx) // opens the connection, which takes its own time
	go func() { defer close(c.done); c.live(ctx, first); <-served }()
	return c, nil
}

// Stop ends the canary. What it saw can still be asked for.
func (c *Canary) Stop() {
	c.cancel()
	c.server.Close()
	c.client.CloseIdleConnections()
	<-c.done
}

// answer notes when a request arrives, as the journal does for those of the clients under test.
func (c *Canary) answer(w http.ResponseWriter, _ *http.Request) {
	now := time.Now()
	c.mu.Lock()
	c.arrived = now
	c.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

func (c *Canary) live(ctx context.Context, last time.Time) {
	for ctx.Err() == nil {
		due := time.Now().Add(beat)
		select {
		case <-ctx.Done():
			return
		case <-time.After(beat):
		}
		if arrived := c.ping(ctx); ctx.Err() == nil {
			c.add(sample{after: last, due: due, late: max(0, arrived.Sub(due))})
			last = arrived
		}
	}
}

// ping sends one request and returns when it arrived; one that fails counts as arriving when it fails.
func (c *Canary) ping(ctx context.Context) (arrived time.Time) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return time.Now()
	}
	response, err := c.client.Do(request)
	if err != nil {
		return time.Now()
	}
	response.Body.Close()
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

// Noise returns what the canary saw during the time that began then and lasted so long, in slices of 5 s on the clock of
// that time. It waits for the request that was due when that time ended, so that the end is covered too.
func (c *Canary) Noise(ctx context.Context, began time.Time, lasted time.Duration) assert.Noise {
	end := began.Add(lasted)
	for {
		c.mu.Lock()
		n, changed := len(c.samples), c.changed
		covered := n > 0 && !c.samples[n-1].due.Before(end)
		c.mu.Unlock()
		if covered {
			break
		}
		select {
		case <-changed:
			continue
		case <-c.done:
		case <-ctx.Done():
		}
		break
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return cut(c.samples, began, lasted)
}

// cut sorts samples into slices. Each counts in every slice that it touches, from the request before it until it came:
// in a stall nothing arrives, and the shortest of runs lies between two requests.
func cut(samples []sample, began time.Time, lasted time.Duration) assert.Noise {
	slots := make([][]time.Duration, int(lasted/sliceSpan)+1)
	for _, s := range samples {
		from, to := s.after.Sub(began), s.due.Add(s.late).Sub(began)
		if to < 0 || from > lasted {
			continue
		}
		for i := max(0, int(from/sliceSpan)); i <= min(len(slots)-1, int(to/sliceSpan)); i++ {
			slots[i] = append(slots[i], s.late)
		}
	}
	var noise assert.Noise
	for i, late := range slots {
		if len(late) == 0 {
			continue
		}
		slices.Sort(late)
		noise.Slices = append(noise.Slices, assert.Slice{
			From: time.Duration(i) * sliceSpan, P50: quantile(late, 50), P99: quantile(late, 99), Max: late[len(late)-1],
			Samples: len(late),
		})
	}
	return noise
}

// quantile returns the value that percent of the sorted list do not exceed.
func quantile(sorted []time.Duration, percent int) time.Duration {
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}
