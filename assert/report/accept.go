package report

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/assert"
)

// Accepted says that a breach is known and accepted for a while: it is shown as a warning and breaks no build.
type Accepted struct {
	Reason  string `json:"reason"`
	Expires string `json:"expires"` // the last day, as in 2027-01-31
}

// Accept marks the breaches that are known of the report's client, and notes the lines that are over or no longer needed.
// Only a fail can be accepted: what was not decided or not exercised stays what it is. Call it before Conclude.
func (r *Report) Accept(known assert.Known, now time.Time) {
	for _, c := range r.Clients {
		for i := range r.Results {
			x := &r.Results[i]
			if x.Verdict != assert.Fail {
				continue
			}
			if b, ok := known.Accepts(c.Name, x.Scenario, x.Clause, now); ok {
				x.Accepted = &Accepted{b.Reason, b.Until()}
			}
		}
		for _, b := range known {
			if note := r.review(b, c.Name, now); note != "" {
				r.Notes = append(r.Notes, b.Place()+": "+note)
			}
		}
	}
}

// review says what is wrong with a line about the client; "" if nothing is.
func (r *Report) review(b assert.Breach, client string, now time.Time) string {
	kept, other, about := 0, 0, false
	for _, x := range r.Results {
		if !b.About(client, x.Scenario, x.Clause) {
			continue
		}
		about = true
		switch x.Verdict {
		case assert.Pass:
			kept++
		case assert.Fail, assert.Inconclusive:
			other++
		}
	}
	switch {
	case about && b.Expired(now):
		return fmt.Sprintf("%s was accepted until %s, which is over: it counts again", b.Clause, b.Until())
	case kept > 0 && other == 0:
		return fmt.Sprintf("%s is accepted, but the client keeps it now: take the line out", b.Clause)
	default:
		return ""
	}
}

// known gathers the accepted breaches by clause.
func known(r Report) []clause {
	var accepted Report
	for _, x := range r.Results {
		if x.Accepted != nil {
			x.Accepted = nil
			accepted.Results = append(accepted.Results, x)
		}
	}
	return clauses(accepted)
}

// acceptedAs finds what a breach of the clause was accepted with.
func (r Report) acceptedAs(x Result) Accepted {
	for _, y := range r.Results {
		if y.Accepted != nil && y.Clause == x.Clause && y.Scenario == x.Scenario {
			return *y.Accepted
		}
	}
	return Accepted{}
}
