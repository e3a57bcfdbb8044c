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
	Spares                 int // how many requests of one client the example leaves alone before it acts; for a Selective
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

// Stateful is a fault that remembers the exchanges that it met. A plan that is put to use starts with fresh ones.
type Stateful interface {
	Fault
	Fresh() Fault // has the same settings and remembers nothing
}

// Selective is a fault that leaves exchanges alone by itself, as a limit does that is not reached. A rule with it acts only
// on the others; those that are left alone go on to the rules behind.
type Selective interface {
	Fault
	// Select is asked once for each exchange and returns what is to happen to it, nil for nothing. It may set headers.
	Select(w http.ResponseWriter, r *http.Request) Fault
}

// Weighing is a Selective whose choice may hang on the body, which is read for it.
type Weighing interface {
	Selective
	Weighs() bool
}

// Early is a fault that may act before the request's body was read. Where it says so the server leaves the body unread; all
// other faults find it read.
type Early interface {
	Fault
	Early() bool
}

// Last is a fault that never calls next: it answers, or breaks the connection. Behind it nothing acts.
type Last interface {
	Fault
	Last()
}

// Checker is a fault that can tell what is wrong with its settings, naming each. Faults that are read from plans have a
// Validate instead, which serves both.
type Checker interface {
	Fault
	Check() error
}

// Scribe is told what a fault does that the server's response writer, which implements it, cannot see.
type Scribe interface {
	// Sends says that the fault will take the connection over and send an answer with this status by itself, under the
	// headers that the response writer has. The answer counts as whole, unless the fault panics with http.ErrAbortHandler.
	Sends(status int)
	// Left says that the client went away now, where net/http cannot notice because the connection was taken over.
	Left()
}

// scribe finds the exchange's scribe; without a server nobody is told.
func scribe(w http.ResponseWriter) Scribe {
	if s, ok := find[Scribe](w); ok {
		return s
	}
	return deaf{}
}

type deaf struct{}

func (deaf) Sends(int) {}
func (deaf) Left()     {}

// Draws gives the random numbers of one exchange. The server's response writer implements it, so that one seed gives one
// outcome for each request sequence number.
type Draws interface{ Draw() *rand.Rand }

// draw finds the exchange's random numbers; without a server they come from the process's own source.
func draw(w http.ResponseWriter) *rand.Rand {
	if d, ok := find[Draws](w); ok {
		return d.Draw()
	}
	return rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
}

// Origin tells who sent an exchange's request, and what. The server's response writer implements it.
type Origin interface {
	Client() string                 // as the journal names it
	Payload() (sum uint64, ok bool) // a hash of the body; false where there is none, or not all of it is known yet
}

// find looks for an ability behind any number of wrapped writers.
func find[T any](w http.ResponseWriter) (ability T, ok bool) {
	for {
		if ability, ok = w.(T); ok {
			return ability, true
		}
		u, wraps := w.(interface{ Unwrap() http.ResponseWriter })
		if !wraps {
			return ability, false
		}
		w = u.Unwrap()
	}
}
