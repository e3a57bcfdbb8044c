package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "retry-after-delta", Level: Critical, Exact: true,
		Summary: "Told by Retry-After how many seconds to wait, the client does not come back sooner.",
		Measure: "After an answer with a whole number of seconds (429, 503, and others whose Retry-After the contract honours) the wait before " +
			"the next attempt of the call. Giving up is keeping it; 0 binds nothing; a wait longer than the contract's maximum is handled as " +
			"the contract says.",
		Why: "The header is the one way in which an overloaded server can say when it will be able to answer. Clients that come back sooner " +
			"hit it while it is still down, and are counted against their limit again.",
		Fix: "Read the header on every 429 and 503, in seconds; wait at least that long, adding jitter, never taking it away; give up if it is " +
			"longer than the call may take. Do not clamp it to the backoff's own maximum.",
		Source: "RFC 9110 10.2.3 (June 2022); RFC 6585 4; OTLP specification; Kubernetes API conventions; gRPC A6 pushback (read in 2026); " +
			"incident S1",
		Samples: Samples{Calls: 3},
		New: func(c *Contract) Clause {
			return &RetryAfterDelta{Max: c.RetryAfter.Max, Longer: c.RetryAfter.Longer, Table: c.Responses}
		},
	})
}

// RetryAfterDelta promises that a wait told in seconds is kept.
type RetryAfterDelta struct {
	Max    time.Duration `yaml:"max" doc:"longest wait that has to be kept in full; default retry-after.max, 0: no bound"`
	Longer Longer        `yaml:"longer" doc:"what is lawful beyond max; default retry-after.longer; give-up means: no attempt before the full wait"`
	Table  *Responses    `yaml:"-"` // which answers bind; nil: the strict table
}

// ID names the clause.
func (p RetryAfterDelta) ID() string { return "retry-after-delta" }

// Validate finds parameters that make no sense.
func (p *RetryAfterDelta) Validate(n strict.Node) {
	atLeast(n, "max", p.Max, 0)
}

// Check compares waits with what was asked.
func (p RetryAfterDelta) Check(calls []Call) Result {
	o := obedience{tally: tally{id: p.ID()}, table: p.Table, max: p.Max, longer: p.Longer}
	return o.check(calls, false, "an answer whose Retry-After asks for seconds")
}

// obedience compares the waits of clients with those that answers asked for.
type obedience struct {
	tally
	table  *Responses
	max    time.Duration
	longer Longer
	early  time.Duration // allowed besides the tolerance
	gaveUp int
}

// check looks at every answer of the wanted form, a date or seconds.
func (o *obedience) check(calls []Call, dates bool, what string) Result {
	if o.table == nil {
		o.table = StrictResponses()
	}
	for i := range calls {
		c := &calls[i]
		sooner, at, met, open := 0.0, -1, false, false
		for k := range c.Attempts {
			e := &c.Attempts[k]
			asked, ok := o.asked(e, c.Run, dates)
			if !ok {
				continue
			}
			if k+1 == len(c.Attempts) {
				met, open = true, !c.Run.Ended && c.Run.Until-endOf(e) < asked
				if !open {
					o.gaveUp++
				}
				continue
			}
			wait := c.Attempts[k+1].At - endOf(e)
			if wait < -overlap {
				continue // sent before the answer came
			}
			met = true
			if wait >= asked-c.Run.Noise.Early(asked)-o.early {
				continue
			}
			if share := 1 - float64(wait)/float64(asked); at < 0 || share > sooner {
				sooner, at = share, k
			}
		}
		switch {
		case at >= 0:
			o.breach(c, sooner, func() (string, []journal.Entry) { return o.text(c, at), c.Attempts[at : at+2] })
		case met:
			o.keep(!open)
		}
	}
	kept := "no attempt came sooner than Retry-After asked"
	if o.gaveUp > 0 {
		kept += fmt.Sprintf("; %s ended with such an answer, which is lawful", plural(o.gaveUp, "call"))
	}
	return o.result(kept, "no call met "+what, "no attempt came sooner than Retry-After asked, but it was not watched for that long")
}

// asked is the wait that an answer binds the client to. Only an answer that reached the client whole does, in the wanted
// form, with a time still to come.
func (o *obedience) asked(e *journal.Entry, run *Run, dates bool) (time.Duration, bool) {
	if e.RetryAfter == "" || isDate(e.RetryAfter) != dates || !e.Delivered() || !o.table.Honours(*e) {
		return 0, false
	}
	asked, ok := Asked(*e, run.Began)
	if !ok || asked <= 0 {
		return 0, false
	}
	if o.max > 0 && asked > o.max && o.longer != GiveUp {
		asked = o.max
	}
	return asked, true
}

func (o *obedience) text(c *Call, at int) string {
	e := &c.Attempts[at]
	wait := c.Attempts[at+1].At - endOf(e)
	asked, _ := Asked(*e, c.Run.Began)
	text := fmt.Sprintf("attempt %d came %s after a %d that asked for %s (Retry-After: %s); the contract says not sooner", at+2, span(max(0, wait)), e.Status, span(asked), e.RetryAfter)
	if o.max > 0 && asked > o.max && o.longer != GiveUp {
		text += fmt.Sprintf(" than after %s", span(o.max))
	}
	return text
}
