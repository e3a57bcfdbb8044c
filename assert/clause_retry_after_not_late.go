package assert

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "retry-after-not-late", Level: Minor, Exact: true,
		Summary: "Told by Retry-After how long to wait, the client comes back not much later than that.",
		Measure: "The wait after an answer whose Retry-After the contract honours, over what was asked. Half as much again is lawful (jitter is added, " +
			"never taken away), so is the agreed backoff where that is longer, and what a slow machine explains (250 ms, three times the " +
			"canary's lateness, 10 %). It fails when more than half of five waits or more are later than that. Giving up is lawful.",
		Why: "The server said when it can serve again. Whoever comes much later prolongs the outage for its own users, and a client that adds " +
			"its backoff to every Retry-After, or multiplies both, waits for minutes where seconds were asked.",
		Fix: "Wait for the longer of Retry-After and the own backoff, plus a little jitter, not for their sum; read the value as seconds; start " +
			"over with the first backoff after a wait that was told.",
		Source: "RFC 9110 10.2.3 (June 2022); gRPC A6 (waits exactly as the pushback says); draft-ietf-httpapi-ratelimit-headers (jitter " +
			"is added), read in 2026",
		Late: true, Shown: true, Samples: Samples{Calls: 10, Gaps: 1, Together: true},
		New: func(c *Contract) Clause {
			return &RetryAfterNotLate{Max: c.RetryAfter.Max, Curve: c.Backoff, Table: c.Responses}
		},
	})
}

// RetryAfterNotLate promises that a wait that was told is not stretched much.
type RetryAfterNotLate struct {
	More  float64       `yaml:"more" doc:"how much longer than asked is lawful, as a share, 0.01 to 10; default 0.5"`
	Max   time.Duration `yaml:"max" doc:"an answer that asks for more is not meant; default retry-after.max, else 30 days"`
	Curve Delays        `yaml:"-"` // the agreed backoff, which may be longer
	Table *Responses    `yaml:"-"` // which answers bind; nil: the strict table
}

// ID names the clause.
func (p RetryAfterNotLate) ID() string { return "retry-after-not-late" }

// Validate finds parameters that make no sense.
func (p *RetryAfterNotLate) Validate(n strict.Node) {
	between(n, "more", p.More, 0.01, 10)
	atLeast(n, "max", p.Max, time.Second)
}

// leastDirected is how many waits a median needs that may fail.
const leastDirected = 5

// toldWait is a wait that an answer asked for, and by how much it was longer than lawful.
type toldWait struct {
	call               *Call
	at                 int
	wait, asked, limit time.Duration
	ended              bool // by another attempt
}

func (w toldWait) excess() time.Duration { return w.wait - w.limit }

// Check compares waits with what was asked.
func (p RetryAfterNotLate) Check(calls []Call) Result {
	p.More = cmp.Or(p.More, 0.5)
	if p.Table == nil {
		p.Table = StrictResponses()
	}
	r := Result{Clause: p.ID()}
	waits := p.waits(calls)
	if len(waits) == 0 {
		r.Detail = "no call came back after an answer whose Retry-After asks for a wait"
		return r
	}
	slices.SortFunc(waits, func(a, b toldWait) int { return cmp.Compare(a.excess(), b.excess()) })
	median := waits[(len(waits)-1)/2]
	if median.excess() <= 0 {
		r.Verdict = Pass
		r.Detail = fmt.Sprintf("the next attempt came %s after an answer that asked for %s (median of %d)", span(median.wait), span(median.asked), len(waits))
		return r
	}
	c, e := median.call, &median.call.Attempts[median.at]
	what := fmt.Sprintf("attempt %d came", median.at+2)
	if !median.ended {
		what = named(c.Client) + " had not come back"
	}
	r.Detail = fmt.Sprintf("%s %s after a %d that asked for %s (median of %d); the contract says not later than %s", what, span(median.wait), e.Status,
		span(median.asked), len(waits), span(median.limit-p.tolerated(median)))
	by := lateness{endOf(e), endOf(e) + median.wait, median.excess() + p.tolerated(median), 1}
	switch why := by.excuse(c.Run.Noise); {
	case len(waits) < leastDirected:
		r.Verdict = Inconclusive
		r.Detail += fmt.Sprintf("; but %s cannot show that, %d would", plural(len(waits), "wait"), leastDirected)
	case why != "":
		r.Verdict = Inconclusive
		r.Detail += "; but " + why
	default:
		r.Verdict = Fail
		r.Witness = c.Attempts[median.at:min(median.at+2, len(c.Attempts))]
	}
	return r
}

// tolerated is what a machine may add to such a wait.
func (p RetryAfterNotLate) tolerated(w toldWait) time.Duration {
	from := endOf(&w.call.Attempts[w.at])
	return w.call.Run.Noise.Late(w.asked, from, from+w.wait)
}

// waits collects all that were told.
func (p RetryAfterNotLate) waits(calls []Call) (all []toldWait) {
	for i := range calls {
		c := &calls[i]
		for k := range c.Attempts {
			e := &c.Attempts[k]
			if e.RetryAfter == "" || !e.Delivered() || !p.Table.Honours(*e) {
				continue
			}
			asked, ok := Asked(*e, c.Run.Began)
			if !ok || asked <= 0 || asked > cmp.Or(p.Max, most.wait) {
				continue
			}
			w := toldWait{call: c, at: k, asked: asked, limit: asked + time.Duration(p.More*float64(asked))}
			if p.Curve.Initial > 0 {
				w.limit = max(w.limit, p.Curve.Jitter.Ceiling(p.Curve.Delay(k+1)))
			}
			switch {
			case k+1 < len(c.Attempts):
				w.wait, w.ended = c.Attempts[k+1].At-endOf(e), true
			case c.Run.Working && c.Run.Until-endOf(e) > w.limit:
				w.wait = c.Run.Until - endOf(e)
			default:
				continue // it gave up, or may come in time
			}
			w.limit += p.tolerated(w)
			if w.wait >= -overlap {
				all = append(all, w)
			}
		}
	}
	return all
}
