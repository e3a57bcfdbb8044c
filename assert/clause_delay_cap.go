package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "delay-cap", Level: Minor,
		Summary: "No wait that the client chooses itself is longer than the agreed maximum.",
		Measure: "The longest wait between the attempts of a call, those that a Retry-After directed left out, against the maximum, jitter " +
			"included. Lateness of the machine is allowed for, and a single wait that is too long decides nothing.",
		Why: "Backoff that grows without bound leaves a client waiting for minutes or hours after the server is back, and users with it.",
		Fix: "Cap the delay after multiplying and after jitter: min(max, base * 2^k), then a random part of it. Look for jitter that is " +
			"added after the cap, and for seconds taken for milliseconds.",
		Source: "defaults read in the sources in 2026: botocore 20 s, go-retryablehttp and gax 30 s, Azure core 60 s, urllib3 120 s, " +
			"gRPC connections 120 s, curl 600 s",
		Late: true, Samples: Samples{Calls: 10},
		New: func(c *Contract) Clause {
			b := c.Backoff
			longest := b.Longest()
			if longest == 0 {
				return nil
			}
			return &DelayCap{Max: longest, Jitter: b.Jitter.Ceiling(longest) - longest, Curve: b, Quiet: quietOf(c)}
		},
	})
}

// DelayCap promises a bound on the waits that a client chooses itself.
type DelayCap struct {
	Max    time.Duration `yaml:"max" doc:"longest wait before jitter; default backoff.max, else 60 s"`
	Jitter time.Duration `yaml:"jitter" doc:"how far jitter may carry a wait beyond max; default what backoff.jitter gives, 0: not at all"`
	Curve  Delays        `yaml:"-"` // the agreed backoff; where it is a schedule, each wait has a maximum of its own
	Quiet  time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p DelayCap) ID() string { return "delay-cap" }

// Validate finds parameters that make no sense.
func (p *DelayCap) Validate(n strict.Node) {
	atLeast(n, "max", p.Max, time.Millisecond)
	atLeast(n, "jitter", p.Jitter, 0)
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks for waits that are too long.
func (p DelayCap) Check(calls []Call) Result {
	if p.Max <= 0 {
		p.Max = time.Minute
	}
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	var longest time.Duration
	over := 0
	for i := range calls {
		c := &calls[i]
		worst, seen := -1, false
		for k, wait := range ownWaits(c) {
			seen = true
			limit := p.limit(k + 1)
			if wait <= limit+c.Run.Noise.Late(limit, endOf(&c.Attempts[k]), c.Attempts[k+1].At) {
				longest = max(longest, wait)
				continue
			}
			over++
			if worst < 0 || wait > c.Gap(worst) {
				worst = k
			}
		}
		switch {
		case worst >= 0:
			from, to := endOf(&c.Attempts[worst]), c.Attempts[worst+1].At
			t.late(c, lateness{from, to, to - from - p.limit(worst+1), 1}, float64(to-from), func() (string, []journal.Entry) {
				return p.text(c, worst), c.Attempts[worst : worst+2]
			})
		case seen:
			t.keep(ends.over(c))
		}
	}
	if over == 1 && t.broken == 1 {
		return Result{Clause: p.ID(), Verdict: Inconclusive, Detail: t.worst + "; a single late attempt may have other reasons"}
	}
	return t.result(
		"the longest wait was "+within(longest, p.Max+p.Jitter),
		"no call was retried after a wait of the client's own choice",
		ends.unsure(fmt.Sprintf("no wait longer than %s was seen", span(p.Max+p.Jitter))))
}

// limit is the longest lawful wait before retry k.
func (p DelayCap) limit(k int) time.Duration {
	if len(p.Curve.Schedule) > 0 {
		return min(p.Max+p.Jitter, p.Curve.Ceiling(k))
	}
	return p.Max + p.Jitter
}

func (p DelayCap) text(c *Call, i int) string {
	text := fmt.Sprintf("%s waited %s before attempt %d; the contract allows %s", named(c.Client), span(c.Gap(i)), i+2,
		span(min(p.Max, p.limit(i+1))))
	if p.Jitter > 0 && len(p.Curve.Schedule) == 0 {
		text += fmt.Sprintf(", %s with jitter", span(p.Max+p.Jitter))
	}
	return text
}
