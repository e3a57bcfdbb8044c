package assert

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "server-directive", Level: Advisory, Optional: true,
		Summary: "Where an answer says outright whether to try again, the client does as it says, whatever the status.",
		Measure: "Answers with x-should-retry, stripe-should-retry or grpc-retry-pushback-ms. After \"no\" (false, a negative pushback or one that " +
			"is no number) nothing may follow; after \"yes\" a call of one attempt fails, unless the contract allows no more; after a pushback " +
			"the next attempt may not come sooner. Only contracts that name this clause ask for it: the headers are of some vendors.",
		Why: "The server knows whether the work was done, or will ever be possible, and the status alone cannot say so: a 500 that must not " +
			"be repeated, a 409 that will pass.",
		Fix: "Read the header that your API documents before the status, on every failed answer.",
		Source: "openai-python 2 and stripe-python 12 (x-should-retry, Stripe-Should-Retry), gRPC A6 (pushback: negative or not a number means " +
			"no retry), read in 2026",
		Samples: Samples{Calls: 10, Each: 5},
		New: func(c *Contract) Clause {
			return &ServerDirective{Attempts: c.Attempts.Max, Quiet: quietOf(c)}
		},
	})
}

// ServerDirective promises that the server's word about retrying wins over the status.
type ServerDirective struct {
	Attempts int           `yaml:"-"` // that the contract allows; 1: no retry, whatever the server says; 0: any number
	Quiet    time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p ServerDirective) ID() string { return "server-directive" }

// Validate finds parameters that make no sense.
func (p *ServerDirective) Validate(n strict.Node) {
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks at what follows answers with a directive.
func (p ServerDirective) Check(calls []Call) Result {
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	for i := range calls {
		c := &calls[i]
		at, text, met := p.disobeyed(c, ends)
		switch {
		case text != "":
			t.breach(c, float64(len(c.Attempts)-at), func() (string, []journal.Entry) {
				return text, c.Attempts[at:min(at+2, len(c.Attempts))]
			})
		case met:
			t.keep(ends.over(c))
		}
	}
	return t.result("the server's word whether to try again was followed", "no answer said whether to try again",
		ends.unsure("the server's word whether to try again was followed so far"))
}

// disobeyed finds the first answer whose directive was not followed.
func (p ServerDirective) disobeyed(c *Call, ends *endings) (at int, text string, met bool) {
	for i := range c.Attempts {
		e := &c.Attempts[i]
		said := e.More().Directive
		if said == "" || !e.Delivered() || e.Status < 400 {
			continue
		}
		met = true
		more := i+1 < len(c.Attempts)
		if more && c.Attempts[i+1].At < endOf(e)-overlap {
			continue // it was on its way
		}
		switch {
		case more && said == journal.DirectiveNo:
			return i, fmt.Sprintf("attempt %d came %s after %s that said not to try again", i+2, span(max(0, c.Gap(i))), after(e)), true
		case more && said == journal.DirectivePushback:
			if asked := pushback(e); c.Gap(i) < asked-c.Run.Noise.Early(asked) {
				return i, fmt.Sprintf("attempt %d came %s after %s that said to try again in %s", i+2, span(max(0, c.Gap(i))), after(e), span(asked)), true
			}
		case !more && said == journal.DirectiveYes && i == 0 && p.Attempts != 1 && c.Run.Cancelled == 0 && ends.silent(c):
			return i, fmt.Sprintf("nothing followed %s that said to try again", after(e)), true
		}
	}
	return 0, "", met
}

// pushback is the wait that gRPC servers ask for, in milliseconds.
func pushback(e *journal.Entry) time.Duration {
	ms, err := strconv.ParseInt(strings.TrimSpace(e.More().RetryAfterMS), 10, 64)
	if err != nil || ms < 0 || ms > int64(most.wait/time.Millisecond) {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
