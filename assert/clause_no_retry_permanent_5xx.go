package assert

import (
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "no-retry-permanent-5xx", Level: Major, Proof: ByRepeat,
		Summary: "After a 5xx that no waiting can mend (501, 505, 506, 507, 508, 510, 511, 526) the client does not try again.",
		Measure: "The attempts of one call that follow its first 5xx of a kind that the contract marks \"never\".",
		Why: "Not every 5xx is an outage: a method that the server lacks, a full disk or a loop behind the gateway answers the same to " +
			"every attempt, so that retries are load for nothing, on a server that may already be in trouble.",
		Fix: "Replace \"status >= 500\" by a list: 500, 502, 503, 504. Treat the rest as final.",
		Source: "RFC 9110 15.6.2 and 15.6.6 (June 2022); RFC 4918 11.5 (507: not without a new action of the user); go-retryablehttp " +
			"v0.7.8 and failsafe-go leave 501 out",
		Samples: Samples{Calls: 3, Each: 3},
		New: func(c *Contract) Clause {
			return &NoRetryPermanent5xx{Table: c.Responses, Quiet: longQuiet(c)}
		},
	})
}

// NoRetryPermanent5xx promises that a 5xx that stays ends the call.
type NoRetryPermanent5xx struct {
	Table *Responses    `yaml:"-"` // nil: the strict table
	Quiet time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default three times the longest wait of the contract, 30 s at least"`
}

// ID names the clause.
func (p NoRetryPermanent5xx) ID() string { return "no-retry-permanent-5xx" }

// Validate finds parameters that make no sense.
func (p *NoRetryPermanent5xx) Validate(n strict.Node) {
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks for attempts after a forbidding 5xx.
func (p NoRetryPermanent5xx) Check(calls []Call) Result {
	return noRetry(p.ID(), calls, p.Table, 500, p.Quiet)
}
