package driver

import (
	"net/url"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/scenarios"
)

// The defaults of Options.
const (
	DefaultStormLimit = 100
	DefaultEnough     = 5 // one more than the attempts that the strict contract allows
	DefaultLimit      = time.Minute
	DefaultStart      = 5 * time.Second
)

// stormFactor is how many requests for each call of a scenario's work a client may send before it is stopped.
const stormFactor = 10

// Options say how a scenario is run. The zero value is good for a start.
type Options struct {
	Clients  int    // how many clients run side by side; the scenario may want more; default 1
	Seed     uint64 // of the server's randomness
	Stub     faultserver.Stub
	Upstream *url.URL // passes undisturbed requests on; nil: the stub answers them

	// CA has the server speak TLS, with certificates that it issues. Commands are told in the environment what to trust: the
	// authority's file is RETRYGATE_CA, and the variables that curl, Go, Node, Python and others look at name it too. Clients
	// made with HTTPFunc trust it. nil: plain HTTP.
	CA *devca.CA

	Slots  *Slots  // shared by scenarios that run side by side; nil: DefaultSlots for this one alone
	Canary *Canary // shared likewise; nil: one for this run

	// Memory runs server, clients and canary over a network in memory. Inside a testing/synctest bubble all of it then takes
	// place in virtual time, exactly. Clients must be made with HTTPFunc, and Canary be nil.
	Memory bool

	// Polls is how often a client works by itself that never ends; 0: it ends when its work is done.
	Polls time.Duration

	// Speed runs the clocks of server and client so many times faster than the machine's: 50 makes a minute's backoff take
	// 1.2 s. All times of the outcome are then the client's. It is for commands that obey libfaketime (see Obeys); default 1.
	Speed int

	StormLimit int           // requests after which a client is stopped at once; default 100
	Enough     int           // requests with one method and path that settle the matter: soon after, the client is stopped; default 5, below 0: never
	Start      time.Duration // how long a client may take to start before others get their turn to; default 5 s
	Limit      time.Duration // longest time for one client where the scenario has no limit; default 1 minute

	// FromFirst has a client's time begin with its first request, as it always does on a faster clock.
	FromFirst bool

	// Progress, if set, is told what happens. Scenarios side by side call it at the same time.
	Progress func(Event)

	// Seated, if set, is told when the clients have got their slots.
	Seated func()

	// CallHeader names the request header that tells the client's calls apart; "" if only headers that are known to do so.
	CallHeader string

	blind     bool // no canary: nobody will look at times
	calibrate bool // keep what is needed to find a CallHeader
	trial     bool // only the first retries matter
}

// defaults fills in what is not set.
func (o Options) defaults(s scenarios.Scenario) Options {
	o.Clients = max(o.Clients, s.Clients, 1)
	if o.Slots == nil {
		o.Slots = NewSlots(0)
	}
	if o.StormLimit <= 0 {
		o.StormLimit = DefaultStormLimit
	}
	if o.Enough == 0 {
		o.Enough = DefaultEnough
	}
	if calls := s.Work.Number(); calls > 0 {
		o.StormLimit = max(o.StormLimit, stormFactor*calls)
	}
	if !s.Work.IsZero() || s.Watch > 0 {
		o.Enough = -1 // the same request comes again and again, and is no retry
	}
	if o.Start <= 0 {
		o.Start = DefaultStart
	}
	if o.Limit <= 0 {
		o.Limit = DefaultLimit
	}
	o.Limit += s.Work.Lasts()
	if s.Limit > 0 {
		o.Limit = s.Limit
	}
	if o.Progress == nil {
		o.Progress = func(Event) {}
	}
	if o.Seated == nil {
		o.Seated = func() {}
	}
	return o
}

// Event is a piece of progress, for a live display.
type Event struct {
	Scenario, Client string
	Kind             EventKind
	Requests         int    // of this client so far
	Text             string // how it ended, to follow its name
}

// EventKind is what an event tells.
type EventKind uint8

// The kinds of events. Sent comes at most ten times a second for each client.
const (
	Started EventKind = iota
	Sent
	Ended
)
