package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "retry-cap", Level: Critical, Proof: ByCap,
		Summary: "The client makes no more attempts at one call than agreed, whatever goes wrong.",
		Measure: "Attempts of one call, the first one included and hidden transport resends left out. One attempt too many fails at once, " +
			"also after a network failure that the contract does not let be retried, or once only. A " +
			"pass needs calls that ended in a failure that may be retried, or in one of the network, and were then silent, so that the client " +
			"itself stopped.",
		Why: "Without a cap every failing call becomes load that never ends, and grows with every new call. Retries of several layers " +
			"multiply: three around three are nine.",
		Fix: "Count attempts in one place, over all errors, targets and connections of a call, and stop at the maximum. Switch off the " +
			"retries of all layers but one. A capped delay is not a capped count.",
		Source: "Google SRE book, chapters 21 (three attempts) and 22 (never retry without end); AWS standard mode (3), Azure core " +
			"guideline (3 retries), gRPC (5 at most), read in 2026; incident S0",
		Samples: Samples{Calls: 10},
		New: func(c *Contract) Clause {
			if c.Attempts.Max == 0 {
				return nil
			}
			return &RetryCap{Max: c.Attempts.Max, Table: c.Responses, Quiet: quietOf(c)}
		},
	})
}

// RetryCap promises a bound on the attempts of one call.
type RetryCap struct {
	Max   int           `yaml:"max" doc:"attempts, the first one included; default attempts.max, else 4"`
	Table *Responses    `yaml:"-"` // which failures may be retried; nil: the strict table
	Quiet time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p RetryCap) ID() string { return "retry-cap" }

// Validate finds parameters that make no sense.
func (p *RetryCap) Validate(n strict.Node) {
	atLeast(n, "max", p.Max, 1)
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check counts attempts.
func (p RetryCap) Check(calls []Call) Result {
	limit, table := p.Max, p.Table
	if limit <= 0 {
		limit = 4
	}
	if table == nil {
		table = StrictResponses()
	}
	t, ends, most := tally{id: p.ID()}, endingsOf(calls, p.Quiet), 0
	var alike crowds
	for i := range calls {
		c := &calls[i]
		n := c.Tries()
		last := &c.Attempts[len(c.Attempts)-1]
		switch {
		case table.spent(c) >= 0:
			at := table.spent(c)
			t.breach(c, float64(n), func() (string, []journal.Entry) { return spentText(c, at, table), c.Attempts[at : at+2] })
		case n > limit && c.Ambiguous && alike.share(calls, c) <= float64(limit):
			t.unsure(fmt.Sprintf("%s seems to have sent %d attempts of one call, where %d are allowed; but other calls looked the same, and shared out "+
				"among all of them the attempts are not too many", named(c.Client), n, limit))
		case n > limit:
			t.breach(c, float64(n), func() (string, []journal.Entry) {
				text := fmt.Sprintf("%s sent %d attempts of one call; the contract allows %d", named(c.Client), n, limit)
				return text, c.Attempts[:limit+1]
			})
		case last.Open && n > 1 || table.after(last) == Backoff || networkFailure(last) && table.after(last) != Unspecified: // a first attempt that is still open has not failed
			most = max(most, n)
			t.keep(ends.over(c))
		}
	}
	return t.result(
		fmt.Sprintf("no call took more than %s; the contract allows %d", plural(most, "attempt"), limit),
		"no call ended in a failure that may be retried, so nothing shows where the client stops",
		ends.unsure(fmt.Sprintf("no call took more than the %d attempts that the contract allows", limit)))
}
