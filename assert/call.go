package assert

import (
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// Call is one thing that a client wanted done, with every attempt at it in order of arrival.
type Call struct {
	ID     string // stable within one history
	Client string

	Attempts []journal.Entry
	// Resent holds hidden transport resends: an attempt on a reused connection that died before a status line and was
	// repeated at once on another connection. The repeat stands in Attempts in its place; it is shown, never charged.
	Resent []journal.Entry

	Rule      string // the grouping rule that applied: driver, call-id, key, match or connection
	Ambiguous bool   // another call could have owned one of the attempts
	Run       *Run   // how it was watched; never nil

	unread []time.Duration // when attempts of the client came that nobody can tell the calls of
}

// Gap is the wait before attempt i+1 (from 0): from the end of attempt i to the arrival of the next. It is negative when
// the two overlap.
func (c Call) Gap(i int) time.Duration { return c.Attempts[i+1].At - c.Attempts[i].End() }

// Tries counts the attempts that the client is to answer for: the first one and every retry. Following a redirect and
// answering a 401 or 407 with other credentials carry the call on, but they repeat nothing.
func (c *Call) Tries() int {
	n := 1
	for i := range len(c.Attempts) - 1 {
		if infer.IsRetry(&c.Attempts[i], &c.Attempts[i+1]) {
			n++
		}
	}
	return n
}

// Chains gives the attempts of each call, as package infer wants them. Nothing is copied.
func Chains(calls []Call) [][]journal.Entry {
	chains := make([][]journal.Entry, len(calls))
	for i := range calls {
		chains[i] = calls[i].Attempts
	}
	return chains
}

// Key says how requests are grouped into calls.
type Key struct {
	OneCall bool          // each client makes one call: all its requests with one method and path are attempts at it
	Table   *Responses    // which answers may be retried; nil: the strict table
	Horizon time.Duration // longest wait that can still link an attempt to a call; 0: derived from the gaps seen
	Run     *Run          // how the entries were watched; nil: until the last entry, not known to have ended
}
