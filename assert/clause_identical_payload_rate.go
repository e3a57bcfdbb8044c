package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "identical-payload-rate", Level: Critical, Proof: ByCap,
		Summary: "A payload that has failed is not sent again by the same client more often than agreed in any minute.",
		Measure: "Requests of one client with equal method, path, query and body that follow a failed one, in any stretch of time as long as the " +
			"limit's. Repeats after a success are left out, those that waited as long as a Retry-After asked, and a " +
			"poller's GETs at the agreed interval, or at the one it had while all was well.",
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
			return &IdenticalPayloadRate{Limit: c.Limits.IdenticalPayload, Poll: c.Poll.Every}
		},
	})
}

// IdenticalPayloadRate promises a bound on repeats of one failed payload.
type IdenticalPayloadRate struct {
	Limit Rate `yaml:"limit" doc:"repeats of one failed payload, the first attempt not counted; default limits.identical-payload, else 3/1m"`

	Poll time.Duration `yaml:"-"` // agreed interval of a poller, whose next request is no repeat; 0: none
}

// ID names the clause.
func (p IdenticalPayloadRate) ID() string { return "identical-payload-rate" }

// Check counts repeats in sliding windows.
func (p IdenticalPayloadRate) Check(calls []Call) Result {
	limit := p.Limit
	if limit.IsZero() {
		limit = Rate{3, time.Minute}
	}
	var endpoints numbering[endpoint]
	var payloads numbering[payload]
	groups := arrivals(calls, func(e *journal.Entry) int32 {
		return payloads.of(payload{endpoints.of(endpointOf(e)), e.Query, partOf(e), e.BodySum, unreadBody(e)})
	})
	v := rateVerdict{id: p.ID(), limits: []Rate{limit}, rounded: rounded(calls)}
	var again []arrival
	for _, list := range groups {
		if unread(list[0].entry) || unreadBody(list[0].entry) {
			continue // nothing is known of what would have been sent
		}
		if first := firstFailed(list); first != nil {
			again = p.repeated(again[:0], list, calls[0].Run.Began, calls[0].Run.Noise)
			v.add(again, first)
		}
	}
	return v.result(calls, "no request failed", func(n int, limit Rate, e *journal.Entry) string {
		return fmt.Sprintf("%s sent the same %s %s %d times more within %s after it had failed; the contract allows %d",
			named(e.Client), e.Method, e.Path, n, span(limit.Per), limit.N)
	})
}

// payload is one thing that a client may send again and again.
type payload struct {
	endpoint int32
	query    string
	part     string // of a download or an upload
	sum      uint64
	unread   bool
}

// unreadBody reports whether the fault left a part of the body unread: bodies that begin alike may differ.
func unreadBody(e *journal.Entry) bool { return e.Early && !e.BodyWhole }

func firstFailed(list []arrival) *journal.Entry {
	for _, a := range list {
		if failed(a.entry) {
			return a.entry
		}
	}
	return nil
}

// repeated adds the requests that follow a failed one of the same payload, unless they waited as they were told, or came when
// the next poll was due.
func (p IdenticalPayloadRate) repeated(again, list []arrival, began time.Time, noise Noise) []arrival {
	pace, tick := poll{every: p.Poll}, list[0].entry // tick: the latest that was not sent because another had failed
	for i := 1; i < len(list); i++ {
		e, prev := list[i].entry, list[i-1].entry
		wait := e.At - endOf(prev)
		pace.after(prev, e)
		if !failed(prev) || pace.due(prev, e, p.Poll > 0) || pace.inTime(tick, e, p.Poll > 0) {
			tick = e
			continue
		}
		if wait < -overlap || challenged(prev, e) {
			continue
		}
		if prev.RetryAfter != "" {
			if asked, ok := Asked(*prev, began); ok && asked > 0 && wait >= asked-noise.Early(asked) {
				continue
			}
		}
		again = append(again, list[i])
	}
	return again
}
