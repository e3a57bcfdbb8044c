package assert

import (
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Call is one thing that a client wanted done, with every attempt at it in order of arrival. It may span several paths,
// methods and connections: what a redirect or a challenge leads to belongs to it.
type Call struct {
	ID     string // stable within one history
	Client string

	Attempts []journal.Entry // Step tells what each of them is to those before
	Parts    []Part          // what stands behind some of them without being the client's own doing: shown, never charged

	Rule      string // the grouping rule that applied: driver, call-id, key, trace, match or connection
	By        string // the request header that named the call, where one did and the history knows which
	Ambiguous bool   // another call could have owned one of the attempts
	Changed   Change // it is another call's request, changed because of the answer; "" if not
	Of        string // ID of that other call

	Run *Run // how it was watched; never nil
	// Untimed is the first attempt, counted from 0, before which the client waited for a time that is not known well enough for a
	// policy to be read from it: the clock that it was seen on ran too fast. 0: there is none.
	Untimed int

	hedges int             // copies that the contract lets stand beside an attempt
	unread []time.Duration // when attempts of the client came that nobody can tell the calls of
	table  *Responses      // which answers count as failures; nil: by their nature only
}

// Part is an exchange that took the place of an attempt: the attempt is what came of it in the end.
type Part struct {
	Kind  PartKind
	Entry journal.Entry
}

// PartKind says who repeated a request without the client's retry policy.
type PartKind uint8

// The kinds of parts.
const (
	Resend      PartKind = iota + 1 // the transport: a reused connection died before a status line, the repeat came at once on another
	Unprocessed                     // the transport: HTTP/2 refused the stream, or went away before it (RFC 9113 8.7); once a call
	Hop                             // a proxy in between: nginx's proxy_next_upstream, Envoy's retry policy, a service mesh
)

var partNames = [...]string{"", "resend", "unprocessed", "hop"}

// String gives the word that reports use.
func (k PartKind) String() string { return partNames[k] }

// Change says how a client changed its request because of an answer.
type Change string

// The changes. What was changed is a call of its own.
const (
	Split  Change = "split"  // something smaller after a 413
	Merged Change = "merged" // read anew, changed and sent again after a 409 or 412
)

// Gap is the wait before attempt i+1 (from 0): from the end of attempt i to the arrival of the next. It is negative when
// the two overlap.
func (c Call) Gap(i int) time.Duration { return c.Attempts[i+1].At - c.Attempts[i].End() }

// Tries counts the attempts that the client is to answer for: the first one and every retry. Following a redirect,
// answering a 401 or 407 with other credentials, asking for the rest of a download and hedging carry the call on, but they
// repeat nothing that failed; nor does the first request that was corrected as the answer to it asked.
func (c *Call) Tries() int {
	n, corrected := 0, false
	for i := range c.Attempts {
		s := c.Step(i)
		switch {
		case s == StepRetry && !corrected && c.corrected(i-1):
			corrected = true
		case s == StepFirst || s == StepRetry:
			n++
		}
	}
	return n
}

// redirectRetried reports whether the contract takes the redirect for a failure and the client sent the same again.
func (c *Call) redirectRetried(e, next *journal.Entry) bool {
	return e.Status >= 300 && e.Status < 400 && e.Path == next.Path && c.table.fails(e)
}

// Chains gives the attempts of each call, as package infer wants them: without hedges, which wait for nothing. Only calls
// that have some are copied.
func Chains(calls []Call) [][]journal.Entry {
	chains := make([][]journal.Entry, len(calls))
	for i := range calls {
		chains[i] = calls[i].withoutHedges()
	}
	return chains
}

// Key says how requests are grouped into calls.
type Key struct {
	OneCall bool          // each client makes one call: all its requests with one method and path are attempts at it
	Table   *Responses    // which answers may be retried; nil: the strict table
	Horizon time.Duration // longest wait that can still link an attempt to a call; 0: derived from the gaps seen
	Poll    time.Duration // how far apart the client was agreed to ask for the same thing by itself; 0: seen from its requests
	Hedges  int           // copies of a request that may be under way beside the first because hedging was agreed on; default 0
	Run     *Run          // how the entries were watched; nil: until the last entry, not known to have ended
	// InPlace: the entries may be laid out anew, call by call, which saves a copy of them all; the slice then belongs to the calls.
	InPlace bool
}
