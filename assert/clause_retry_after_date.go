package assert

import (
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "retry-after-date", Level: Major, Exact: true,
		Summary: "Told by Retry-After a date to come back at, the client does not come back before it.",
		Measure: "The arrival of the next attempt of the call against the instant in the header, for all three forms of HTTP dates. Dates carry " +
			"whole seconds, so the wait itself is not compared. Giving up is keeping it; a date in the past binds nothing.",
		Why: "A client that reads only numbers takes a date for 0 and comes back at once, or for nothing at all and uses its own backoff: " +
			"where the server had asked for minutes it gets a hot loop.",
		Fix: "Parse both forms of the header: whole seconds, else a date as http.ParseTime does; the wait is the date minus now (better: minus " +
			"the answer's own Date, which is right under any clock).",
		Source:  "RFC 9110 10.2.3 and 5.6.7 (June 2022); supabase-js PR 2634 and atlas PR 229 (dates read as 0 or as nothing)",
		Samples: Samples{Calls: 3},
		New: func(c *Contract) Clause {
			return &RetryAfterDate{Max: c.RetryAfter.Max, Longer: c.RetryAfter.Longer, Table: c.Responses}
		},
	})
}

// RetryAfterDate promises that a wait told as a date is kept.
type RetryAfterDate struct {
	Skew   time.Duration `yaml:"skew" doc:"how far the client's clock may be ahead of the server's; default 0: one machine"`
	Max    time.Duration `yaml:"max" doc:"longest wait that has to be kept in full; default retry-after.max, 0: no bound"`
	Longer Longer        `yaml:"longer" doc:"what is lawful beyond max; default retry-after.longer; give-up means: no attempt before the date"`
	Table  *Responses    `yaml:"-"` // which answers bind; nil: the strict table
}

// ID names the clause.
func (p RetryAfterDate) ID() string { return "retry-after-date" }

// Validate finds parameters that make no sense.
func (p *RetryAfterDate) Validate(n strict.Node) {
	atLeast(n, "skew", p.Skew, 0)
	atLeast(n, "max", p.Max, 0)
}

// Check compares arrivals with the dates in the headers.
func (p RetryAfterDate) Check(calls []Call) Result {
	o := obedience{tally: tally{id: p.ID()}, table: p.Table, max: p.Max, longer: p.Longer, early: max(0, p.Skew)}
	r := o.check(calls, true, "an answer whose Retry-After names a date to come")
	if r.Verdict == NotExercised && datedBeforeTime(calls) {
		r.Verdict = Inconclusive
		r.Detail = "the history does not say at what time of day it began, so dates in headers cannot be compared with it"
	}
	return r
}

// datedBeforeTime reports whether a date was sent in a run whose beginning is not known.
func datedBeforeTime(calls []Call) bool {
	for i := range calls {
		if !calls[i].Run.Began.IsZero() {
			continue
		}
		for k := range calls[i].Attempts {
			if isDate(calls[i].Attempts[k].RetryAfter) {
				return true
			}
		}
	}
	return false
}

// isDate reports whether a Retry-After is meant as a date: a day's name in front and a time of day in it.
func isDate(value string) bool {
	value = strings.TrimLeft(value, " \t")
	return value != "" && (value[0] < '0' || value[0] > '9') && strings.Contains(value, ":")
}
