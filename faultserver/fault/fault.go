// Package fault holds the faults: one kind a file, each registered by its name.
//
// A fault takes the place of the handler for one exchange. It may answer by itself, break the connection, or call next and
// change what comes of it; that is all it takes to compose (latency, then status).
package fault

import (
	"math/rand/v2"
	"net/http"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Fault disturbs one exchange. next is the rest of the way: further faults, then the backend. Inject must return when
// the request's context ends, and may panic with http.ErrAbortHandler to break the connection off.
type Fault interface {
	Inject(w http.ResponseWriter, r *http.Request, next http.Handler)
}

// Kind describes one kind of fault. New returns a pointer to a struct whose fields are the kind's settings, with their
// defaults filled in; Example is a YAML snippet that decodes into it.
type Kind struct {
	Name, Summary, Example string
	New                    func() Fault
}

// Kinds holds every registered kind.
var Kinds = registry.New[Kind]("fault kind")

func register(k Kind) { Kinds.Add(k.Name, k) }

// Chain composes faults: the first wraps the second, and so on; next comes last.
func Chain(faults ...Fault) Fault {
	if len(faults) == 1 {
		return faults[0]
	}
	return chain(faults)
}

type chain []Fault

func (c chain) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if len(c) == 0 {
		next.ServeHTTP(w, r)
		return
	}
	c[0].Inject(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c[1:].Inject(w, r, next)
	}))
}

// Draws gives the random numbers of one exchange. The server's response writer implements it, so that one seed gives one
// outcome for each request sequence number.
type Draws interface{ Draw() *rand.Rand }

// draw finds the exchange's random numbers behind any number of wrapped writers; without a server they come from the
// process's own source.
func draw(w http.ResponseWriter) *rand.Rand {
	for {
		if d, ok := w.(Draws); ok {
			return d.Draw()
		}
		u, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		}
		w = u.Unwrap()
	}
}
