package assert

import (
	"fmt"
	"sort"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "no-retry-4xx", Level: Critical, Proof: ByRepeat,
		Summary: "After an answer that says the request itself is wrong (400, 401, 403, 404, 422 ...) the client does not send it again.",
		Measure: "The attempts of one call that follow its first 4xx of a kind that the contract marks \"never\". A 401 may be answered once, " +
			"with other credentials; a 413 or 423 may be repeated if it carried Retry-After, a 409 also under an idempotency key. A request " +
			"that was merged after a 409, 412 or 423, made smaller after a 413, packed otherwise after a 415, given its condition after a 428 or " +
			"asked for in another part after a 416 is another request, and so is the first one after a 411 or 417 in a row. Where the contract " +
			"says \"never-again\", and the client was given several calls, later ones to that path fail too.",
		Why: "A wrong request stays wrong. A client that repeats it turns one bad payload into a flood that no recovery ends: one mobile " +
			"app sent 823,000 identical requests in four days, every one answered 400.",
		Fix: "Decide by status before any retry: on 4xx except 408, 421, 425 and 429 log the answer, drop the item, tell the caller. In retry " +
			"libraries wrap such an error as permanent (backoff.Permanent, retry.Unrecoverable) or use a status list, not \"any error\".",
		Source: "RFC 9110 15.5.1 and 15.5.4 (June 2022); AIP-194; Kubernetes API conventions; OTLP specification (read in 2026); " +
			"incident S0, mobile app looping on 400",
		Samples: Samples{Calls: 3, Each: 3},
		New: func(c *Contract) Clause {
			return &NoRetry4xx{Table: c.Responses, Quiet: longQuiet(c)}
		},
	})
}

// NoRetry4xx promises that a 4xx that must not be retried ends the call.
type NoRetry4xx struct {
	Table *Responses    `yaml:"-"` // nil: the strict table
	Quiet time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default three times the longest wait of the contract, 30 s at least"`
}

// ID names the clause.
func (p NoRetry4xx) ID() string { return "no-retry-4xx" }

// Validate finds parameters that make no sense.
func (p *NoRetry4xx) Validate(n strict.Node) {
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks for attempts after a forbidding 4xx.
func (p NoRetry4xx) Check(calls []Call) Result {
	return noRetry(p.ID(), calls, p.Table, 400, p.Quiet)
}

// noRetry looks for attempts after a forbidding status of one class, 400 or 500.
func noRetry(id string, calls []Call, table *Responses, class int, quiet time.Duration) Result {
	if table == nil {
		table = StrictResponses()
	}
	t, ends := tally{id: id}, endingsOf(calls, quiet)
	for i := range calls {
		c := &calls[i]
		at, next, met := forbidden(c, table, class)
		switch {
		case next > 0:
			more := len(c.Attempts) - next - 1
			t.breach(c, float64(more), func() (string, []journal.Entry) {
				return noRetryText(c, at, next, table), []journal.Entry{c.Attempts[at], c.Attempts[next]}
			})
		case met:
			t.keep(ends.over(c))
		}
	}
	goneFor(&t, calls, table, class)
	return t.result(
		fmt.Sprintf("no attempt followed a %dxx that forbids one", class/100),
		fmt.Sprintf("no call was answered with a %dxx after which the contract forbids another attempt", class/100),
		ends.unsure(fmt.Sprintf("no attempt followed a %dxx that forbids one", class/100)))
}

// forbidden finds the first attempt at which the call went on although the status forbade it, and the one that followed it; 0
// if none did. Copies that were under way when the answer came follow nothing. met reports whether any such status was seen.
func forbidden(c *Call, table *Responses, class int) (at, next int, met bool) {
	refreshed := map[int]int{} // which attempt answered each status: a proxy and the server behind it may each ask once
	for i := range c.Attempts {
		e := &c.Attempts[i]
		if e.Status > class+99 || e.Status < class && (class == 500 || e.Status < 300) {
			continue // a 3xx that a contract forbids to follow is judged with 4xx, a 2xx by stop-after-success
		}
		behaviour := table.after(e)
		if behaviour != Never && behaviour != OnceAfterRefresh {
			continue
		}
		met = true
		told := endOf(e) - overlap
		next = i + 1 + sort.Search(len(c.Attempts)-i-1, func(k int) bool { return c.Attempts[i+1+k].At >= told })
		answer, again := refreshed[e.Status]
		switch {
		case next == len(c.Attempts):
		case behaviour == OnceAfterRefresh && (!again || answer == next) && e.Auth != c.Attempts[next].Auth:
			refreshed[e.Status] = next
		case behaviour == Never && next == i+1 && c.corrected(i):
		default:
			return i, next, true
		}
	}
	return 0, 0, met
}

func noRetryText(c *Call, at, next int, table *Responses) string {
	e := &c.Attempts[at]
	text := fmt.Sprintf("attempt %d came %s after %s; the contract says ", next+1, span(max(0, c.Attempts[next].At-endOf(e))), after(e))
	switch row := table.Status(e.Status).Retry; {
	case row == OnceAfterRefresh && e.Auth == c.Attempts[next].Auth:
		text += "once at most, and only with renewed credentials, but these were the same"
	case row == OnceAfterRefresh:
		text += "once at most, with renewed credentials, and this was the second time"
	case row == WithRetryAfter:
		text += "never, unless the answer carries Retry-After"
	case row == WithRetryAfterOrKey:
		text += "never, unless the answer carries Retry-After or the request an idempotency key"
	default:
		text += "never"
	}
	if more := len(c.Attempts) - next - 1; more > 0 {
		text += fmt.Sprintf("; %d more followed", more)
	}
	return text
}
