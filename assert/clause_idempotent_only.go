package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "idempotent-only", Level: Critical, Proof: ByRepeat,
		Summary: "A request that may have been carried out is sent again only if doing it twice does no harm.",
		Measure: "POST, PATCH, LOCK and CONNECT without an idempotency key, a precondition (If-Match) or a safe route in the contract, that were " +
			"sent again after an answer behind which the server may have acted: a broken connection, a timeout, a 5xx other than a 503 with " +
			"Retry-After, or while the first was still going on. Refusals (421, 425, 429) may be repeated by any method. What a proxy repeated counts too, and is said to be the proxy's.",
		Why: "The answer was lost, not the order. Sent again without a key it is placed, charged or mailed twice, and nobody sees it " +
			"until customers complain.",
		Fix: "Give every write an idempotency key made once per call, before the first attempt. Where the API takes none, do not retry POST " +
			"and PATCH after timeouts, resets and 5xx; take them out of the library's list of methods.",
		Source: "RFC 9110 9.2.2 (June 2022): a client should not repeat a request with a non-idempotent method by itself unless it knows " +
			"that it is safe or was never applied; Idempotency-Key draft of the IETF; Twilio billing incident, July 2013",
		Samples: Samples{Calls: 30},
		New: func(c *Contract) Clause {
			return &IdempotentOnly{SafeRoutes: c.Idempotency.SafeRoutes, Quiet: quietOf(c)}
		},
	})
}

// IdempotentOnly promises that nothing is done twice.
type IdempotentOnly struct {
	SafeRoutes []string      `yaml:"safe-routes" doc:"requests that may be repeated without a key: POST /path or /path, a trailing * for any rest; default idempotency.safe-routes"`
	Quiet      time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p IdempotentOnly) ID() string { return "idempotent-only" }

// Validate finds parameters that make no sense.
func (p *IdempotentOnly) Validate(n strict.Node) {
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks for unsafe repeats.
func (p IdempotentOnly) Check(calls []Call) Result {
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	resent := 0
	for i := range calls {
		c := calls[i].read()
		if c == nil || idempotentMethod(c.Attempts[0].Method) {
			continue
		}
		var hop *journal.Entry
		for k := range c.Parts {
			switch part := &c.Parts[k]; {
			case part.Kind == Resend && !mayRepeat(&part.Entry, p.SafeRoutes):
				resent++
			case part.Kind == Hop && hop == nil && maybeProcessed(&part.Entry) && !mayRepeat(&part.Entry, p.SafeRoutes):
				hop = &part.Entry
			}
		}
		at, repeats, met, kept := p.twice(c)
		switch {
		case repeats > 0:
			t.breach(c, float64(repeats), func() (string, []journal.Entry) {
				return unsafeText(c, at, repeats), c.Attempts[at : at+2]
			})
		case hop != nil:
			t.breach(c, 1, func() (string, []journal.Entry) { return hopText(hop), []journal.Entry{*hop, c.Attempts[0]} })
		case met:
			t.keep(kept || ends.over(c))
		}
	}
	hidden := ""
	if resent > 0 {
		hidden = fmt.Sprintf("; the transport itself resent %s on another connection, which is not charged, but may have been carried out twice",
			plural(resent, "write"))
	}
	return t.result("no write that may have been carried out was sent again without a key"+hidden,
		"no write (POST, PATCH) met a failure behind which it may have been carried out"+hidden,
		ends.unsure("no write that may have been carried out was sent again without a key"))
}

// twice finds the first unsafe repeat and counts them all. met reports whether a write may have been carried out although
// it failed, kept whether such a one was repeated under a key.
func (p IdempotentOnly) twice(c *Call) (at, repeats int, met, kept bool) {
	for i := range c.Attempts {
		e := &c.Attempts[i]
		last := i+1 == len(c.Attempts)
		overlaps := !last && c.Attempts[i+1].At < endOf(e)-overlap || !last && e.Open
		if !overlaps && !maybeProcessed(e) {
			continue
		}
		met = true
		if last || mayRepeat(e, p.SafeRoutes) {
			kept = kept || !last
			continue
		}
		if repeats == 0 {
			at = i
		}
		repeats++
	}
	return at, repeats, met, kept
}

// hopText says that it was not the client.
func hopText(e *journal.Entry) string {
	return fmt.Sprintf("a proxy between client and server, not the client, sent %s %s again after %s; it carries no idempotency key and may have "+
		"been carried out, and then it is done twice: let proxies repeat only what is safe (nginx: no non_idempotent; Envoy: no retries of POST)",
		e.Method, e.Path, after(e))
}

func unsafeText(c *Call, at, repeats int) string {
	e := &c.Attempts[at]
	when := fmt.Sprintf("%s after %s", span(c.Gap(at)), after(e))
	if c.Gap(at) < 0 || e.Open {
		when = fmt.Sprintf("while attempt %d was still going on", at+1)
	}
	text := fmt.Sprintf("%s %s, which carries no idempotency key, was sent again %s; attempt %d may have been carried out, and then it is done twice",
		e.Method, e.Path, when, at+1)
	if repeats > 1 {
		text += fmt.Sprintf("; %d such repeats in this call", repeats)
	}
	return text
}
