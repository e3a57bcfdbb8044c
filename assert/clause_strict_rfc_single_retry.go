package assert

import (
	"fmt"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "strict-rfc-single-retry", Level: Advisory, Optional: true,
		Summary: "After a failure of the connection the request is sent again once at most: a failed automatic retry is not retried.",
		Measure: "In each call the attempts that follow a broken, reset, timed-out or unanswered one: one at most. What a server declared not to " +
			"have processed does not count. Only contracts that name this clause ask for it.",
		Why: "RFC 9110 says so, for clients and proxies alike. Hardly a library does, and most contracts agree on more attempts; for a proxy in " +
			"front of other retrying layers it is the right rule, since attempts multiply.",
		Fix:     "Let one layer retry and set the others, proxies above all, to one retry or none.",
		Source:  "RFC 9110 9.2.2, last sentence (June 2022)",
		Samples: Samples{Calls: 10},
		New:     func(*Contract) Clause { return &StrictRFCSingleRetry{} },
	})
}

// StrictRFCSingleRetry promises at most one automatic retry after failures of the connection.
type StrictRFCSingleRetry struct{}

// ID names the clause.
func (p StrictRFCSingleRetry) ID() string { return "strict-rfc-single-retry" }

// Check counts the retries after failures of the connection.
func (p StrictRFCSingleRetry) Check(calls []Call) Result {
	t, ends := tally{id: p.ID()}, endingsOf(calls, 0)
	for i := range calls {
		c := &calls[i]
		retries, at, met := 0, 0, false
		for k := range c.Attempts {
			e := &c.Attempts[k]
			if !networkFailure(e) || e.Unprocessed {
				continue
			}
			met = true
			if k+1 == len(c.Attempts) || c.Attempts[k+1].At < endOf(e)-overlap {
				continue
			}
			if retries++; retries == 2 {
				at = k
			}
		}
		switch {
		case retries > 1:
			t.breach(c, float64(retries), func() (string, []journal.Entry) {
				return fmt.Sprintf("%s tried again %d times after a failure of the connection; the contract says once at most", named(c.Client), retries),
					c.Attempts[at-1 : at+2]
			})
		case met:
			t.keep(ends.over(c))
		}
	}
	return t.result("one retry at most followed failures of the connection", "no connection failed under a request",
		ends.unsure("one retry at most followed failures of the connection"))
}
