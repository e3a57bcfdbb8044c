package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// Longer is what a client does with a Retry-After that is longer than the contract's maximum.
type Longer uint8

// The choices.
const (
	GiveUp    Longer = iota // no further attempt
	WaitMax                 // waits the maximum, then tries again
	EitherWay               // gives up or waits at least the maximum
)

var longerNames = [...]string{"give-up", "wait-max", "either"}

// String gives the word that contract files use.
func (l Longer) String() string { return longerNames[l] }

// MarshalText writes the word that contract files use.
func (l Longer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the word that contract files use.
func (l *Longer) UnmarshalText(text []byte) error {
	for i, name := range longerNames {
		if name == string(text) {
			*l = Longer(i)
			return nil
		}
	}
	return fmt.Errorf("unknown choice %q%s", text, registry.Suggest(string(text), longerNames[:]))
}

// tooLong reports whether the answer binds the client and asks it to wait longer than the contract lets it.
func (c *Contract) tooLong(e *journal.Entry, run *Run) bool {
	if c == nil || c.RetryAfter.Max <= 0 || !e.Delivered() || !c.Responses.Honours(*e) {
		return false
	}
	asked, ok := Asked(*e, run.Began)
	return ok && asked > c.RetryAfter.Max
}

// wentOn says what the contract wanted where attempt k+1 came after an answer that asked to wait too long; "" if it was lawful.
func (c *Contract) wentOn(call *Call, k int) string {
	if c == nil || c.RetryAfter.Longer != GiveUp || !c.tooLong(&call.Attempts[k], call.Run) {
		return ""
	}
	return "to give up when asked to wait longer than " + span(c.RetryAfter.Max)
}

// stayedAway says what the contract wanted where nothing came after the last attempt, which was told to wait too long: "" if
// the client had to stop, by the attempts and the time that a call may take, or because the request must not be repeated.
func (c *Contract) stayedAway(call *Call) string {
	e := &call.Attempts[len(call.Attempts)-1]
	if c == nil || c.RetryAfter.Longer != WaitMax || !call.Run.Ended || call.Run.Lost > 0 || call.Run.Cancelled > 0 || !c.tooLong(e, call.Run) {
		return ""
	}
	back := endOf(e) + c.RetryAfter.Max - call.Attempts[0].At
	switch {
	case c.Responses.after(e) != Backoff,
		c.Attempts.Max > 0 && call.Tries() >= c.Attempts.Max,
		c.Attempts.Within > 0 && back > c.Attempts.Within-lastStart,
		maybeProcessed(e) && !idempotentMethod(e.Method) && e.Key == "" && !e.Precondition:
		return ""
	}
	return "to wait " + span(c.RetryAfter.Max) + " when asked to wait longer, and to try again"
}

// lastStart is how much time of its call an attempt needs that is still worth starting.
const lastStart = 5 * time.Second

// another reports whether what came after attempt i may as well be another call for the same thing: nothing but time joins the
// two, and it was longer than a call may wait.
func another(c *Call, i int, longest time.Duration) bool {
	return i >= 0 && c.Confidence() < Strong && c.Gap(i) > longest
}
