// Package assert judges a client by the history it left: entries become calls, clauses look at calls, and each clause
// gives a verdict with the evidence for it. It never touches a clock, a network or a server.
package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// Verdict is what a clause concludes. The zero value is NotExercised, so that nothing passes by default.
type Verdict uint8

// The four verdicts. A run takes the worst of its clauses in the order fail, inconclusive, pass, not-exercised.
const (
	NotExercised Verdict = iota // the precondition never arose
	Pass
	Inconclusive // too little evidence, or too noisy a machine
	Fail
)

var verdictNames = [...]string{"not-exercised", "pass", "inconclusive", "fail"}

// String gives the word that reports use.
func (v Verdict) String() string { return verdictNames[v] }

// MarshalText writes the word that reports use.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the word that reports use.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q%s", text, registry.Suggest(string(text), verdictNames[:]))
}

// Level says how much a breach matters. Major and critical ones break a build by default.
type Level uint8

// The levels, from report-only to able to take a service down.
const (
	Advisory Level = iota // report only
	Minor                 // inefficient
	Major                 // prolongs an outage
	Critical              // can take a service down or corrupt data
)

var levelNames = [...]string{"advisory", "minor", "major", "critical"}

// String gives the word that contracts and reports use.
func (l Level) String() string { return levelNames[l] }

// MarshalText writes the word that contracts and reports use.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the word that contracts and reports use.
func (l *Level) UnmarshalText(text []byte) error {
	for i, name := range levelNames {
		if name == string(text) {
			*l = Level(i)
			return nil
		}
	}
	return fmt.Errorf("unknown level %q%s", text, registry.Suggest(string(text), levelNames[:]))
}

// Clause is one promise of a contract. Check is pure: the same calls give the same result.
type Clause interface {
	ID() string
	Check(calls []Call) Result
}

// Result is one clause's verdict on one set of calls. Detail is a sentence for a reader who knows neither the clause nor
// this project; Witness is the smallest set of entries that shows a breach.
type Result struct {
	Clause  string
	Verdict Verdict
	Detail  string
	Witness []journal.Entry
	doubt   bool    // of what is inconclusive: it looked like a breach, or entries are missing
	Chance  float64 // of a breach, where it is known: how likely a client that keeps the clause shows the same; 0: not at all
}

// Samples is how much evidence a clause needs before it may decide. The scenarios that put it to the test bring that many
// calls between them; a run of verify sees to that.
type Samples struct {
	Calls, Gaps int  // calls, and waits in each
	Each        int  // calls for each of the answers that a scenario shares out among its clients; 0: no matter
	Together    bool // all in one scenario: only calls that met the same can be compared
}

// Kind describes a clause: what list and explain show, and how a contract switches it on.
type Kind struct {
	ID      string
	Level   Level
	Summary string // one line: what the client promises
	Measure string // how it is measured
	Why     string // what goes wrong without it
	Fix     string // what to change in a client that breaks it
	Source  string // RFC section, vendor doc or incident, dated where it can change
	Late    bool   // two-sided: a slow machine can bend it, so it needs a clean canary
	// Optional: only contracts whose clauses section names it ask for it.
	Optional bool
	Shown    bool // a pass rests on something that was seen, not on its absence, so that lost entries cannot fake it
	Counts   bool // it counts what one client sends, whatever calls that belongs to
	Bare     bool // and connections of which no request was read with it
	Pattern  bool // it judges how waits grow or differ, which times in whole seconds do not show
	Exact    bool // clients keep it by waiting exactly as long as they are told
	Proof    Proof
	Samples  Samples

	// New returns a pointer to the clause with its parameters taken from the contract, or nil if the contract does not
	// switch it on. A contract's clauses section decodes over what New returns.
	New func(c *Contract) Clause
}

// Proof says how many requests for one thing prove a breach although nobody knows which calls they belong to.
type Proof uint8

// The proofs.
const (
	ByCall   Proof = iota // no number does: the clause looks at single calls
	ByRepeat              // more than the client sends while all is well
	ByCap                 // more than the agreed attempts make of as many calls
)

// of makes the clause, nil if the contract does not ask for it.
func (k Kind) of(c *Contract) Clause {
	if _, named := c.Clauses[k.ID]; k.Optional && !named {
		return nil
	}
	return k.New(c)
}

// Kinds holds every registered clause.
var Kinds = registry.New[Kind]("clause")

func register(k Kind) { Kinds.Add(k.ID, k) }

// Run is what is known about how calls were watched.
type Run struct {
	Name  string        // of the scenario, "" if of none
	Began time.Time     // wall clock at time 0 of the entries, which dates in headers are compared with; zero: not known
	Lost  uint64        // entries that the journal dropped: claims of absence need 0
	Until time.Duration // how long was watched
	Ended bool          // the clients are known to have ended, so that no attempt can follow
	Noise Noise         // what the canary saw

	// Cancelled is when the caller had told the client that it lost interest in its calls; 0: it did not.
	Cancelled time.Duration
	// Working: the client, which ends with its call, had not ended when it was stopped, and this call was its latest.
	Working bool
	// Given is when the driver gave each client its calls, on the clock of the entries; nil: it gave one to each, or none.
	Given map[string][]time.Duration
}

// id tells runs apart, of which each call may have a copy: by name too, as all bubbles of virtual time begin at once.
func (r *Run) id() string { return fmt.Sprint(r.Name, " ", r.Began.UnixNano()) }

// Noise is how far measured times can be off: the lateness of the harness's own canary client, slice by slice, and what the
// times are rounded to. The zero value means that no canary ran and that times are exact.
type Noise struct {
	Slices     []Slice
	Resolution time.Duration // what times of entries are rounded down to, as in access logs; 0: not at all
}

// Slice is the canary's lateness between From and the next slice.
type Slice struct {
	From          time.Duration
	P50, P99, Max time.Duration
	Stood         float64 // share of the time for which it stood still, by more than 25 ms at once; 0: never, or not known
	Samples       int
	Clock         float64 // how many times faster than the machine's the clock ran; 0: as fast
}
