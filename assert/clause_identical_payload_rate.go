package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "identical-payload-rate", Level: Critical,
		Summary: "A payload that has failed is not sent again by the same client more often than agreed in any minute.",
		Measure: "Requests of one client with equal method, path, query and body that follow a failed one, in any stretch of time as long as the " +
			"limit's. Repeats after a success are left out, and those that waited as long as a Retry-After asked.",
		Why: "It is the mark of a loop that no lawful use shows: all payloads alike, never a success. A server that sees bodies can find it " +
			"without knowing anything about calls.",
		Fix: "Cap retries per payload, not only per call: a queue that puts a failed item back, or a timer that flushes it, goes round the cap " +
			"of the retry policy.",
		Source:  "incident S1 (at most 3 retries a minute of one payload hash, the default); incident S0 (823,000 requests, all bodies identical)",
		Samples: Samples{Calls: 1},
		New: func(c *Contract) Clause {
			if c.Limits.IdenticalPayload.IsZero() {
				return nil
			}
			return &IdenticalPayloadRate{Limit: c.Limits.IdenticalPayload}
		},
	})
}

// IdenticalPayloadRate promises a bound on repeats of one failed payload.
type IdenticalPayloadRate struct {
	Limit Rate `yaml:"limit"` // repeats, the first attempt not counted; default 3/1m
}

// ID names the clause.
func (p IdenticalPayloadRate) ID() string { return "identical-payload-rate" }

// Check counts repeats in sliding windows.
func (p IdenticalPayloadRate) Check(calls []Call) Result {
	limit := p.Limit
	if limit.IsZero() {
		limit = Rate{3, time.Minute}
	}
	type payload struct {
		client, method, path, query string
		sum                         uint64
	}
	byPayload := arrivals(calls, func(e *journal.Entry) payload { return payload{e.Client, e.Method, e.Path, e.Query, e.BodySum} })
	v := rateVerdict{id: p.ID(), limits: []Rate{limit}}
	for _, list := range byPayload {
		if first := firstFailed(list); first != nil {
			v.add(repeated(list, calls[0].Run.Began), first)
		}
	}
	return v.result(calls, "no request failed", func(w crowd, limit Rate) string {
		e := w.list[0]
		return fmt.Sprintf("%s sent the same %s %s %d times more within %s after it had failed; the contract allows %d", named(e.Client),
			e.Method, e.Path, w.count, span(limit.Per), limit.N)
	})
}

func firstFailed(list []*journal.Entry) *journal.Entry {
	for _, e := range list {
		if Failed(*e) {
			return e
		}
	}
	return nil
}

// repeated picks the requests that follow a failed one of the same payload, unless they waited as they were told.
func repeated(list []*journal.Entry, began time.Time) []*journal.Entry {
	var again []*journal.Entry
	for i := 1; i < len(list); i++ {
		e, prev := list[i], list[i-1]
		wait := e.At - endOf(prev)
		if !Failed(*prev) || wait < -overlap || challenged(prev, e) {
			continue
		}
		if asked, ok := Asked(*prev, began); ok && asked > 0 && wait >= asked-Early(asked) {
			continue
		}
		again = append(again, e)
	}
	return again
}
