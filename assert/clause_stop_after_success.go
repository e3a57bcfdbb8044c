package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "stop-after-success", Level: Critical,
		Summary: "Once an attempt was answered 2xx and the answer arrived, no further attempt of that call is sent.",
		Measure: "Attempts that arrive more than a quarter of a second (three times the canary's lateness or twice its longest stall, if that is " +
			"more) after a whole 2xx was handed to a client that was still there. Attempts under way at that moment are not charged.",
		Why: "A repeat that was already scheduled, or a loop that does not look at success, does every write twice and every read for " +
			"nothing; it happens when all is well, so nobody looks.",
		Fix: "Cancel timers and queued repeats of a call when it succeeds; take the item off the queue when the answer is there, before anything " +
			"that can fail.",
		Source:  "gRPC A6 (the first good answer cancels the rest); OTLP specification (a partial success is not retried); cert-manager issue 758 (read in 2026)",
		Samples: Samples{Calls: 20},
		New: func(c *Contract) Clause {
			return &StopAfterSuccess{Table: c.Responses, Quiet: quietOf(c)}
		},
	})
}

// StopAfterSuccess promises that success ends a call.
type StopAfterSuccess struct {
	Table *Responses    `yaml:"-"` // 2xx that ask to come back are no successes; nil: there are none
	Quiet time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p StopAfterSuccess) ID() string { return "stop-after-success" }

// Validate finds parameters that make no sense.
func (p *StopAfterSuccess) Validate(n strict.Node) {
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks for attempts after a success.
func (p StopAfterSuccess) Check(calls []Call) Result {
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	for i := range calls {
		c := &calls[i]
		won := firstSuccess(c, p.Table)
		if won < 0 || c.Attempts[won].Method == "OPTIONS" { // browsers ask so before each attempt (CORS), and no data depend on it
			continue
		}
		after := won + 1
		limit := endOf(&c.Attempts[won]) + p.underWay(c.Run.Noise, endOf(&c.Attempts[won]))
		for after < len(c.Attempts) && c.Attempts[after].At <= limit {
			after++
		}
		if after == len(c.Attempts) {
			t.keep(ends.over(c))
			continue
		}
		more := len(c.Attempts) - after - 1
		t.breach(c, float64(more), func() (string, []journal.Entry) {
			text := fmt.Sprintf("attempt %d came %s after attempt %d had been answered %d; the contract says that a success ends the call",
				after+1, span(c.Attempts[after].At-endOf(&c.Attempts[won])), won+1, c.Attempts[won].Status)
			if more > 0 {
				text += fmt.Sprintf("; %d more followed", more)
			}
			return text, []journal.Entry{c.Attempts[won], c.Attempts[after]}
		})
	}
	return t.result("no attempt followed a success", "no call succeeded", ends.unsure("no attempt followed a success"))
}

// underWay is how long after the success an attempt may arrive that was sent before it: longer on a machine that stalled.
func (p StopAfterSuccess) underWay(n Noise, success time.Duration) time.Duration {
	return max(n.Late(0, 0, maxTime), 2*n.Max(success, success+lateFloor)+n.Resolution)
}

// firstSuccess is the index of the first attempt that succeeded, -1 if none did.
func firstSuccess(c *Call, table *Responses) int {
	for i := range c.Attempts {
		if s := c.Attempts[i].Status; s >= 200 && s < 300 && succeeded(&c.Attempts[i]) && !table.fails(&c.Attempts[i]) {
			return i
		}
	}
	return -1
}
