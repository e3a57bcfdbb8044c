package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "total-deadline", Level: Major,
		Summary: "A call ends within the agreed time, all its attempts and waits together.",
		Measure: "From the arrival of the first attempt to the arrival and to the end of the last. Only what exceeds the deadline by more than " +
			"a slow machine explains (250 ms, three times the canary's lateness, 10 %) counts.",
		Why: "Attempts without a deadline over all of them pile up behind a slow server: users have long given up, while their calls " +
			"still occupy both sides and delay recovery.",
		Fix: "Set one deadline for the call, outside the retry loop (context.WithTimeout, a total timeout policy), besides the timeout of " +
			"each attempt; do not start an attempt or a wait that it would cut.",
		Source: "gRPC A6 (the call's deadline spans all attempts); Envoy router (the route timeout includes retries); .NET resilience " +
			"handler, 30 s in total (read in 2026)",
		Late: true, Samples: Samples{Calls: 10},
		New: func(c *Contract) Clause {
			if c.Attempts.Within == 0 {
				return nil
			}
			return &TotalDeadline{Within: c.Attempts.Within, Table: c.Responses, Quiet: quietOf(c)}
		},
	})
}

// TotalDeadline promises a bound on the time of one call.
type TotalDeadline struct {
	Within time.Duration `yaml:"within" doc:"from the first arrival to the end of the last attempt; default attempts.within, else 30 s"`
	Table  *Responses    `yaml:"-"` // which failures may be retried; nil: the strict table
	Quiet  time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p TotalDeadline) ID() string { return "total-deadline" }

// Validate finds parameters that make no sense.
func (p *TotalDeadline) Validate(n strict.Node) {
	atLeast(n, "within", p.Within, time.Millisecond)
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check measures whole calls.
func (p TotalDeadline) Check(calls []Call) Result {
	if p.Within <= 0 {
		p.Within = 30 * time.Second
	}
	if p.Table == nil {
		p.Table = StrictResponses()
	}
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	var longest time.Duration
	for i := range calls {
		c := &calls[i]
		began, last := c.Attempts[0].At, &c.Attempts[len(c.Attempts)-1]
		until := endOf(last)
		if last.Open {
			until = max(until, c.Run.Until)
		}
		lasted := until - began
		switch {
		case another(c, len(c.Attempts)-2, p.Within):
			t.keep(true)
		case lasted > p.Within+c.Run.Noise.Late(p.Within, began, until):
			by := lateness{began, until, lasted - p.Within, 2 * len(c.Attempts)} // each attempt and each wait
			t.late(c, by, float64(lasted), func() (string, []journal.Entry) { return p.text(c, lasted), firstAndLast(c) })
		case p.tested(c):
			longest = max(longest, lasted)
			t.keep(!last.Open && !failed(last) || ends.over(c))
		}
	}
	return t.result(
		"the longest call took "+within(longest, p.Within),
		"no call met a failure that may be retried, or an answer that did not come",
		fmt.Sprintf("no call was seen to take longer than %s, but calls could still go on when the watch ended", span(p.Within)))
}

// tested reports whether the call had a reason to go on until its deadline.
func (p TotalDeadline) tested(c *Call) bool {
	for i := range c.Attempts {
		if e := &c.Attempts[i]; e.Open || p.Table.after(e) == Backoff {
			return true
		}
	}
	return false
}

func (p TotalDeadline) text(c *Call, lasted time.Duration) string {
	n := len(c.Attempts)
	last := &c.Attempts[n-1]
	limit := p.Within + c.Run.Noise.Late(p.Within, c.Attempts[0].At, last.At)
	contract := "the contract ends a call after " + span(p.Within)
	switch arrived := last.At - c.Attempts[0].At; {
	case arrived > limit:
		return fmt.Sprintf("attempt %d arrived %s after the first; %s", n, span(arrived), contract)
	case last.Open:
		return fmt.Sprintf("attempt %d was still open %s after the call began; %s", n, span(lasted), contract)
	default:
		return fmt.Sprintf("attempt %d ended %s after the call began; %s", n, span(lasted), contract)
	}
}

// firstAndLast are the first and the last attempt of a call.
func firstAndLast(c *Call) []journal.Entry {
	if len(c.Attempts) == 1 {
		return c.Attempts
	}
	return []journal.Entry{c.Attempts[0], c.Attempts[len(c.Attempts)-1]}
}
