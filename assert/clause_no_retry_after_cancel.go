package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "no-retry-after-cancel", Level: Major,
		Summary: "Once the caller has cancelled, no further attempt of the call is sent.",
		Measure: "Attempts of a call that was going on when the caller cancelled (the end of a Go function's context, SIGTERM to a command), and " +
			"that arrive more than a quarter of a second later (three times the canary's lateness, if that is more). What was under way " +
			"at that moment is not charged.",
		Why: "Nobody waits for the answer any more. A client that takes the cancellation for one more failure, or sleeps through it, sends work " +
			"that will be thrown away, and keeps a service that shuts down from ending.",
		Fix: "Ask whether the caller is still there before each attempt, and let the wait between attempts end with it (select on ctx.Done, an " +
			"AbortSignal, an interruptible sleep). A cancelled request is no failure to retry. On SIGTERM stop sending.",
		Source: "AIP-194 (CANCELLED and DEADLINE_EXCEEDED end a call); Azure core guideline; go-retryablehttp v0.7.8 and azcore look at the " +
			"context first (read in 2026)",
		Late: true, Samples: Samples{Calls: 20, Each: 10},
		New: func(c *Contract) Clause {
			return &NoRetryAfterCancel{Table: c.Responses, Quiet: quietOf(c)}
		},
	})
}

// NoRetryAfterCancel promises that a cancelled call sends nothing more. When the caller cancelled stands in Run.
type NoRetryAfterCancel struct {
	Table *Responses    `yaml:"-"` // 2xx that ask to come back are no successes; nil: there are none
	Quiet time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p NoRetryAfterCancel) ID() string { return "no-retry-after-cancel" }

// Validate finds parameters that make no sense.
func (p *NoRetryAfterCancel) Validate(n strict.Node) {
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks for attempts after the caller had cancelled.
func (p NoRetryAfterCancel) Check(calls []Call) Result {
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	for i := range calls {
		c := &calls[i]
		cancelled := c.Run.Cancelled
		if cancelled == 0 || !goingOn(c, p.Table, cancelled) {
			continue
		}
		late := c.Run.Noise.Late(0, cancelled, cancelled)
		after := len(c.Attempts)
		for after > 0 && c.Attempts[after-1].At > cancelled+late {
			after--
		}
		if after == len(c.Attempts) {
			t.keep(ends.over(c))
			continue
		}
		came, more := c.Attempts[after].At-cancelled, len(c.Attempts)-after-1
		t.late(c, lateness{cancelled, c.Attempts[after].At, came, 1}, float64(more), func() (string, []journal.Entry) {
			text := fmt.Sprintf("attempt %d came %s after the caller had cancelled; the contract says that this ends the call", after+1, span(came))
			if more > 0 {
				text += fmt.Sprintf("; %d more followed", more)
			}
			return text, c.Attempts[max(0, after-1) : after+1]
		})
	}
	return t.result("no attempt followed once the caller had cancelled", "no caller cancelled while a call was going on",
		ends.unsure("no attempt followed once the caller had cancelled"))
}

// goingOn reports whether the call had begun and had not succeeded at that time.
func goingOn(c *Call, table *Responses, at time.Duration) bool {
	if c.Attempts[0].At > at {
		return false
	}
	won := firstSuccess(c, table)
	return won < 0 || endOf(&c.Attempts[won]) > at
}
