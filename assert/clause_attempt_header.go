package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "attempt-header", Level: Minor,
		Summary: "If the client states which attempt a request is, it is right, and what belongs to one attempt is made anew.",
		Measure: "The number in a header that counts attempts (x-stainless-retry-count, grpc-previous-rpc-attempts, svix-retry-count, " +
			"amz-sdk-request, gccl-attempt-count): absent or the first value on the first attempt, one more on each retry, as it was or one " +
			"more after a redirect or with renewed credentials. A number that stays, goes back or is left out fails; one that skips some is " +
			"inconclusive until three calls in a row show it, since attempts may not have arrived. A timestamp (Date, X-Amz-Date, " +
			"Webhook-Timestamp) that is the same 2 s later fails too.",
		Why: "Servers tell first attempts from retries by it: to shed retries first, to measure retry storms, to recognise replays. A wrong " +
			"number makes all of that wrong, and a signature over an old timestamp is refused.",
		Fix: "Count in the retry loop and write the header inside it; sign and stamp each attempt anew, not the call once.",
		Source: "gRPC A6 (grpc-previous-rpc-attempts, absent first); Azure core guideline (renew time-left headers); Standard Webhooks (id kept, " +
			"timestamp renewed); botocore, svix and openai clients (read in 2026)",
		Samples: Samples{Calls: 5, Gaps: 1},
		New:     func(*Contract) Clause { return &AttemptHeader{} },
	})
}

// AttemptHeader promises that attempt numbers are right and that timestamps are renewed.
type AttemptHeader struct {
	Renewed time.Duration `yaml:"renewed" doc:"after so long a timestamp has to differ; default 2 s, as most have whole seconds"`
}

// ID names the clause.
func (p AttemptHeader) ID() string { return "attempt-header" }

// Validate finds parameters that make no sense.
func (p *AttemptHeader) Validate(n strict.Node) {
	atLeast(n, "renewed", p.Renewed, time.Second)
}

// leastSkips is how many calls have to skip numbers, none of them counting right, until lost attempts explain it no more.
const leastSkips = 3

// Check compares what clients state with what arrived.
func (p AttemptHeader) Check(calls []Call) Result {
	if p.Renewed <= 0 {
		p.Renewed = 2 * time.Second
	}
	t, skips := tally{id: p.ID()}, tally{id: p.ID()}
	for i := range calls {
		c := &calls[i]
		at, text, skipped, met := p.wrong(c)
		say := func() (string, []journal.Entry) { return text, c.Attempts[max(0, at-1) : at+1] }
		switch {
		case text == "" && met:
			t.keep(true)
		case text != "" && skipped:
			skips.breach(c, 1, say)
		case text != "":
			t.breach(c, float64(len(c.Attempts)), say)
		}
	}
	if t.broken == 0 && skips.broken > 0 {
		if t.kept == 0 && skips.broken >= leastSkips {
			return skips.result("", "", "")
		}
		return Result{Clause: p.ID(), Verdict: Inconclusive, Detail: skips.worst + "; but attempts between may not have arrived"}
	}
	return t.result("attempt numbers and timestamps were right", "no client that made a second attempt stated its number or a timestamp", "")
}

// wrong finds the first attempt that states something wrong. met reports whether there was anything to compare.
func (p AttemptHeader) wrong(c *Call) (at int, text string, skipped, met bool) {
	number, stated := int32(1), c.Attempts[0].Claim > 0
	if first := c.Attempts[0].Claim; byProxy(&c.Attempts[0]) {
		return 0, "", false, false
	} else if first > 1 && len(c.Attempts) > 1 {
		return 0, fmt.Sprintf("the first attempt says that it is number %d", first), true, true
	}
	for i := 1; i < len(c.Attempts); i++ {
		prev, e := &c.Attempts[i-1], &c.Attempts[i]
		if e.At < endOf(prev)-overlap || byProxy(e) {
			return 0, "", false, met // copies side by side: which one counts is not known
		}
		if stamp := e.More().Stamp; stamp != 0 && prev.More().Stamp != 0 {
			met = true
			if stamp == prev.More().Stamp && e.At-prev.At >= p.Renewed+c.Run.Noise.Resolution {
				return i, fmt.Sprintf("attempt %d carries the timestamp of attempt %d, which was sent %s before; the contract says that each has its own", i+1, i, span(e.At-prev.At)), false, true
			}
		}
		least, most := number+1, number+1
		if !infer.IsRetry(prev, e) {
			least = number
		}
		switch {
		case e.Claim == 0 && !stated:
			number = most
			continue
		case e.Claim == 0:
			return i, fmt.Sprintf("attempt %d does not say which it is, as those before did", i+1), false, true
		case e.Claim < least:
			return i, fmt.Sprintf("attempt %d says that it is number %d; the contract says %d", i+1, e.Claim, most), false, true
		case e.Claim > most:
			return i, fmt.Sprintf("attempt %d says that it is number %d; the contract says %d", i+1, e.Claim, most), true, true
		}
		number, stated, met = e.Claim, true, true
	}
	return 0, "", false, met
}

// byProxy reports whether the number is that of a proxy, which counts its own attempts.
func byProxy(e *journal.Entry) bool { return e.More().Hop > 0 && e.Claim == e.More().Hop }
