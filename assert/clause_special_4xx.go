package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "special-4xx", Level: Major,
		Summary: "408, 409, 421, 423 and 425 are repeated only as each of them allows.",
		Measure: "In each call the attempts sent after such an answer. A 421 or 425 (and whatever the contract marks \"once\") may be repeated " +
			"once, a 421 on another connection only, a 425 without \"Early-Data: 1\". A 408 may be repeated at once, but after the second one in a row the client has to " +
			"wait: waits fail that one who draws them between 0 and the initial backoff (50 ms if none is agreed) would show less than once in " +
			"10,000 runs. A 409 or 423 may be repeated if it carried Retry-After, with another body or under a condition, a 409 also under an idempotency key.",
		Why: "These 4xx are the exceptions to \"never\", each in its own way. A client that treats them all alike either gives up where one " +
			"more try on a new connection would do, or repeats a conflict that only someone's decision can end.",
		Fix: "Treat them one by one: 408 as a passing failure; 421 once, after closing the connection; 425 once, after the handshake; 409: " +
			"read the state again, merge, send the merged request; 423: only when told how long. OkHttp repeats 408 once and stops.",
		Source: "RFC 9110 15.5.9, 15.5.10 and 15.5.20 (June 2022); RFC 4918 11.3; RFC 8470 5.1 and 5.2 (2018); draft-ietf-httpapi-idempotency-key-header; " +
			"OkHttp and Envoy (retriable-4xx is 409 alone), read in 2026",
		Samples: Samples{Calls: 5, Each: 5},
		New: func(c *Contract) Clause {
			return &Special4xx{Base: c.Backoff.Delay(1), Table: c.Responses, Quiet: quietOf(c)}
		},
	})
}

// Special4xx promises that the 4xx that may be repeated are repeated as each of them allows.
type Special4xx struct {
	Base  time.Duration `yaml:"base" doc:"smallest initial backoff, before jitter, from the second 408 on; default backoff.initial, else 50 ms"`
	Table *Responses    `yaml:"-"` // nil: the strict table
	Quiet time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p Special4xx) ID() string { return "special-4xx" }

// Validate finds parameters that make no sense.
func (p *Special4xx) Validate(n strict.Node) {
	atLeast(n, "base", p.Base, time.Millisecond)
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks at what follows each of these answers.
func (p Special4xx) Check(calls []Call) Result {
	if p.Table == nil {
		p.Table = StrictResponses()
	}
	if p.Base <= 0 {
		p.Base = 50 * time.Millisecond
	}
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	var timeouts hurry // after the second 408 in a row and later ones
	for i := range calls {
		c := &calls[i]
		met, at, reason, missteps := false, -1, "", 0
		for k := range c.Attempts {
			e := &c.Attempts[k]
			if !p.special(e) {
				continue
			}
			met = true
			if k+1 == len(c.Attempts) || c.Attempts[k+1].At < endOf(e)-overlap {
				continue // nothing was sent because of it
			}
			if e.Status == 408 && k > 0 && c.Attempts[k-1].Status == 408 && !directed(e) {
				timeouts.add(c, k, max(0, c.Gap(k))+c.Run.Noise.Resolution, p.Base/4)
			}
			if why := p.misstep(c, k); why != "" {
				if at < 0 {
					at, reason = k, why
				}
				missteps++
			}
		}
		switch {
		case at >= 0:
			t.breach(c, float64(missteps), func() (string, []journal.Entry) {
				text := fmt.Sprintf("attempt %d came %s after %s; the contract says %s", at+2, span(max(0, c.Gap(at))), after(&c.Attempts[at]), reason)
				return text, c.Attempts[at : at+2]
			})
		case met:
			t.keep(ends.over(c))
		}
	}
	if t.broken == 0 && len(timeouts.waits) > 0 {
		chance := timeouts.chance(p.Base)
		text := fmt.Sprintf("after a second 408 in a row the next attempt came %s later (median of %d)", span(timeouts.median()), len(timeouts.waits))
		switch {
		case chance < specialAlpha:
			return Result{Clause: p.ID(), Verdict: Fail, Witness: timeouts.shown, Chance: chance,
				Detail: text + "; the contract says that only the first may be repeated at once"}
		case len(timeouts.waits) > 2 && timeouts.brief(p.Base):
			return Result{Clause: p.ID(), Verdict: Inconclusive, Detail: text + ", " + timeouts.excuse(p.Base, "more calls")}
		}
	}
	return t.result("408, 409, 421, 423 and 425 were repeated as each allows, or not at all",
		"no call was answered 408, 409, 421, 423 or 425", ends.unsure("nothing followed such an answer that should not"))
}

// special reports whether the answer is one of those that have a rule of their own.
func (p Special4xx) special(e *journal.Entry) bool {
	if e.Status == 0 || networkFailure(e) || e.Open {
		return false
	}
	switch e.Status {
	case 408, 409, 421, 423, 425:
		return true
	}
	return p.Table.after(e) == Once
}

// misstep says what the contract says where attempt k+1 should not have followed as it did; "" if it was lawful.
func (p Special4xx) misstep(c *Call, k int) string {
	e, next := &c.Attempts[k], &c.Attempts[k+1]
	behaviour := p.Table.after(e)
	switch {
	case behaviour == Never && e.Status == 409 && !c.corrected(k):
		return "never, unless the answer carries Retry-After or the request an idempotency key"
	case behaviour == Never && e.Status == 423 && !c.corrected(k):
		return "never, unless the answer carries Retry-After"
	case behaviour == Once && p.repeated(c, k):
		return fmt.Sprintf("once at most, and this was the second time after a %d", e.Status)
	case e.Status == 425 && next.Rare != nil && next.Rare.EarlyData:
		return "after the handshake only, and this was sent in early data again"
	case behaviour != Never && e.Status == 421 && e.Conn != 0 && e.Conn == next.Conn:
		return "on another connection only, and this was the same"
	default:
		return ""
	}
}

// repeated reports whether the same answer was followed by another attempt before.
func (p Special4xx) repeated(c *Call, k int) bool {
	for i := range k {
		if c.Attempts[i].Status == c.Attempts[k].Status && p.special(&c.Attempts[i]) {
			return true
		}
	}
	return false
}
