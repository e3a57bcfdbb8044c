package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "client-rate", Level: Critical, Counts: true, Bare: true,
		Summary: "One client sends no more requests to one endpoint than agreed, whatever the server answers.",
		Measure: "The most requests of one client with one method and path in any stretch of time as long as the limit's; each limit holds. A " +
			"stretch is taken 2 ms and 1 % short, so that requests spread exactly as agreed never fail.",
		Why: "A client that loops needs no fleet to do harm: one script made 40 requests a second, one phone hundreds a minute. Retries have " +
			"to pass the client's own limit like everything else.",
		Fix: "Send first attempts and retries through one limiter per client and endpoint; on 429 slow the whole client down, not the one " +
			"request; make loops wait also where they believe to have succeeded.",
		Source: "incident S0 (10 a minute where an endpoint is used once or twice) and S1 (100 a minute, 20 in 10 s, which are the defaults); " +
			"devlake issue 1528 (retries went round the limiter)",
		Samples: Samples{Calls: 1},
		New: func(c *Contract) Clause {
			if len(c.Limits.ClientRate) == 0 {
				return nil
			}
			return &ClientRate{Limits: c.Limits.ClientRate}
		},
	})
}

// ClientRate promises bounds on the requests of one client to one endpoint.
type ClientRate struct {
	Limits Rates `yaml:"limits" doc:"requests of one client to one endpoint, all of which hold; default limits.client-rate, else 100/1m and 20/10s"`
}

// ID names the clause.
func (p ClientRate) ID() string { return "client-rate" }

// Check counts requests in sliding windows.
func (p ClientRate) Check(calls []Call) Result {
	limits := p.Limits
	if len(limits) == 0 {
		limits = []Rate{{100, time.Minute}, {20, 10 * time.Second}}
	}
	var endpoints numbering[endpoint]
	v := rateVerdict{id: p.ID(), limits: limits, rounded: rounded(calls)}
	for _, list := range arrivals(calls, func(e *journal.Entry) int32 { return endpoints.of(endpointOf(e)) }) {
		v.add(list, nil)
	}
	return v.result(calls, "no request arrived", func(n int, limit Rate, e *journal.Entry) string {
		return fmt.Sprintf("%s sent %d requests to %s within %s; the contract allows %d",
			named(e.Client), n, e.Request(), span(limit.Per), limit.N)
	})
}
