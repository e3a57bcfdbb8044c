package fault

import (
	"net/http"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "gather",
		Summary: "holds requests until so many are there, and lets them go on together: what comes next meets all clients in one instant",
		Example: "{gather: {requests: 30, for: 3s}}",
		New:     func() Fault { return &Gather{} },
	})
}

// Crowded is a fault that acts by how many requests come together. Clients whose clock runs faster than the machine starts them
// come one by one, and hardly meet it.
type Crowded interface {
	Fault
	Crowded()
}

// Gather makes one crowd of clients that start one after the other, as processes do.
type Gather struct {
	Requests int           `yaml:"requests" doc:"how many go on together; default 10"`
	For      time.Duration `yaml:"for" doc:"no request is held longer, and the others then go on with it; default 3s"`

	mu   sync.Mutex
	here int           // requests that wait
	gate chan struct{} // closed when they go on; nil: nobody waits
}

// Fresh returns the same with nobody waiting.
func (g *Gather) Fresh() Fault { return &Gather{Requests: g.Requests, For: g.For} }

// Crowded says that it waits for a crowd.
func (*Gather) Crowded() {}

// Inject waits for the others, then lets next answer.
func (g *Gather) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	most := g.For
	if most <= 0 {
		most = 3 * time.Second
	}
	gate := g.join()
	timer := clock.From(r.Context()).NewTimer(most)
	defer timer.Stop()
	select {
	case <-gate:
	case <-timer.C:
		g.open(gate)
	case <-r.Context().Done():
		g.leave(gate)
		abort()
	}
	next.ServeHTTP(w, r)
}

// join makes one more that waits; the last of them opens the gate.
func (g *Gather) join() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gate == nil {
		g.gate = make(chan struct{})
	}
	gate, most := g.gate, g.Requests
	if most <= 0 {
		most = 10
	}
	if g.here++; g.here >= most {
		g.release()
	}
	return gate
}

// open lets those go on that wait at the gate, unless they did already.
func (g *Gather) open(gate chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gate == gate {
		g.release()
	}
}

// leave takes a client off the count that did not wait for the others.
func (g *Gather) leave(gate chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gate == gate {
		g.here--
	}
}

func (g *Gather) release() {
	close(g.gate)
	g.gate, g.here = nil, 0
}

// Validate wants a crowd, and an end of the wait.
func (g *Gather) Validate(n strict.Node) {
	if _, ok := n.Field("requests"); ok {
		strict.Between(n, "requests", g.Requests, 2, 100_000)
	}
	if _, ok := n.Field("for"); ok {
		strict.Above(n, "for", g.For, 0)
	}
}
