package assert

import (
	"fmt"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "idempotency-key-stable", Level: Critical,
		Summary: "All attempts of a write carry one idempotency key, from the first on, and no other payload carries it.",
		Measure: "The keys of the attempts of a call that repeat a failed one; and, for each client, the bodies sent under one key. Where the " +
			"contract names a key header, a write that is repeated without any key breaks it too.",
		Why: "The key is how a server knows a repeat from a new order. A key made anew for each attempt protects nothing: three attempts are " +
			"three orders, while logs and counts look right.",
		Fix: "Make the key once per call, outside the retry loop and before the first attempt, store it with queued work so that it survives a " +
			"restart, and send it every time. Never derive it from time or attempt number.",
		Source: "Idempotency-Key draft of the IETF (httpapi); Stripe API reference; AIP-155; gocardless-pro-python issue 12 (three attempts, " +
			"three keys; read in 2026)",
		Samples: Samples{Calls: 20},
		New: func(c *Contract) Clause {
			return &IdempotencyKeyStable{Required: c.Idempotency.KeyHeader != "", SafeRoutes: c.Idempotency.SafeRoutes}
		},
	})
}

// IdempotencyKeyStable promises that a server can tell a repeat from a new order.
type IdempotencyKeyStable struct {
	Required   bool     `yaml:"required" doc:"a write that is repeated must carry a key; default true where idempotency.key-header is set"`
	SafeRoutes []string `yaml:"-"` // requests that may be repeated without a key
}

// ID names the clause.
func (p IdempotencyKeyStable) ID() string { return "idempotency-key-stable" }

// Check compares the keys of attempts, and the bodies under one key.
func (p IdempotencyKeyStable) Check(calls []Call) Result {
	t := tally{id: p.ID()}
	under := orders{byKey: map[orderKey]*journal.Entry{}}
	for i := range calls {
		c := calls[i].read()
		if c == nil {
			continue
		}
		at, met := p.changes(c)
		before, reused := under.reused(c)
		switch {
		case at >= 0:
			t.breach(c, 1, func() (string, []journal.Entry) { return keyText(c, at), c.Attempts[at : at+2] })
		case reused != nil:
			t.breach(c, 0, func() (string, []journal.Entry) {
				text := fmt.Sprintf("%s sent two different bodies to %s %s under one idempotency key; the second is taken for a repeat of the first",
					named(c.Client), reused.Method, reused.Path)
				return text, []journal.Entry{*before, *reused}
			})
		case met:
			t.keep(true)
		}
	}
	return t.result("every retry carried the key of its first attempt", "no request with an idempotency key was repeated", "")
}

// changes finds the first attempt whose repeat carries another key than it, -1 if none does.
func (p IdempotencyKeyStable) changes(c *Call) (at int, met bool) {
	for i := range len(c.Attempts) - 1 {
		e, next := &c.Attempts[i], &c.Attempts[i+1]
		if !repeats(e) || e.Refused() || next.Refused() { // of those, nobody knows the key
			continue
		}
		switch {
		case e.Key != next.Key:
			return i, true
		case e.Key != "":
			met = true
		case p.Required && !idempotentMethod(e.Method) && !e.Precondition && !safeRoute(p.SafeRoutes, e):
			return i, true
		}
	}
	return -1, met
}

// orders remembers which body each client sent under which key.
type orders struct {
	endpoints numbering[endpoint]
	byKey     map[orderKey]*journal.Entry
}

type orderKey struct {
	endpoint int32
	key      string
}

// reused finds an entry that carries the key of an earlier one with another body, although it does not repeat it: a new
// order that the server takes for the old one. Orders that were refused are forgotten.
func (o *orders) reused(c *Call) (before, reused *journal.Entry) {
	for i := range c.Attempts {
		e := &c.Attempts[i]
		if e.Key == "" || !e.BodyWhole || i > 0 && repeats(&c.Attempts[i-1]) || !succeeded(e) && !maybeProcessed(e) {
			continue
		}
		k := orderKey{o.endpoints.of(endpointOf(e)), e.Key}
		if before = o.byKey[k]; before == nil {
			o.byKey[k] = e
		} else if before.BodySum != e.BodySum || before.BodyLen != e.BodyLen {
			return before, e
		}
	}
	return nil, nil
}

func keyText(c *Call, at int) string {
	e, next := &c.Attempts[at], &c.Attempts[at+1]
	switch {
	case e.Key == "" && next.Key == "":
		return fmt.Sprintf("attempt %d repeated %s %s after %s without an idempotency key; the contract wants one on every write",
			at+2, e.Method, e.Path, after(e))
	case e.Key == "":
		return fmt.Sprintf("attempt %d carried an idempotency key and attempt %d none; the key has to be there from the first attempt on", at+2, at+1)
	case next.Key == "":
		return fmt.Sprintf("attempt %d carried no idempotency key although attempt %d did", at+2, at+1)
	default:
		return fmt.Sprintf("attempts %d and %d carried different idempotency keys, so that the server takes them for two calls", at+1, at+2)
	}
}
