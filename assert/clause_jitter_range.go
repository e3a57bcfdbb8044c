package assert

import (
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "jitter-range", Level: Minor,
		Summary: "The waits are spread as the contract says: over the whole range of the agreed form of jitter, and not beyond it.",
		Measure: "Only for contracts that name a form (full, equal, proportional, decorrelated, additive). A wait below the form's range fails where " +
			"the initial backoff is agreed, one above it too unless the machine may have been late. Over all calls the spread before " +
			"each retry, the longest 15 % left out: it fails when the agreed form shows so little less than once in 10,000 runs. Forms of " +
			"the same ratio of shortest to longest cannot be told apart: equal jitter is proportional by a third.",
		Why: "How far waits are spread decides how high the wave is when an outage ends: half the spread, twice the peak. Capacity that was " +
			"planned for full jitter does not bear the jitter of 10 % that a library adds.",
		Fix: "Choose the form in the library by name, or draw the wait yourself: full is random(0, d), equal d/2 + random(0, d/2), proportional " +
			"d x (1 +- x).",
		Source: "AWS, \"Exponential Backoff and Jitter\" (2015) and its simulator; measured ratios of stripe-python (0.5), openai-python (0.75), " +
			"gRPC (0.67), resilience4j (0.33), read in 2026",
		Late: true, Shown: true, Samples: Samples{Calls: 10, Gaps: 3, Together: true},
		New: func(c *Contract) Clause {
			if c.Backoff.Jitter.Form <= JitterNone {
				return nil
			}
			return &JitterRange{Curve: c.Backoff}
		},
	})
}

// JitterRange promises a form of jitter.
type JitterRange struct {
	Curve Delays        `yaml:"-"` // the agreed backoff and its form of jitter
	Slack time.Duration `yaml:"slack" doc:"how far outside the range a wait may lie besides the usual tolerance; default 0"`
}

// formCalls is how many calls it takes to tell forms apart.
const formCalls = 10

// ID names the clause.
func (p JitterRange) ID() string { return "jitter-range" }

// Validate finds parameters that make no sense.
func (p *JitterRange) Validate(n strict.Node) {
	atLeast(n, "slack", p.Slack, 0)
}

// Check compares waits with the agreed range, one by one and together.
func (p JitterRange) Check(calls []Call) Result {
	t := tally{id: p.ID()}
	for i := range calls {
		p.outside(&t, &calls[i])
	}
	const missing = "no call was retried after a wait of the client's own choice"
	if t.broken+t.doubtful > 0 {
		return t.result("", missing, "")
	}
	r := Result{Clause: p.ID()}
	waits := waitsByRetry(calls)
	if len(waits) == 0 {
		r.Detail = missing
		return r
	}
	noise := calls[0].Run.Noise
	for k := range waits {
		w := &waits[k]
		w.narrowest = p.Curve.Jitter.width(w.spread.Median, p.delay(k+1))
	}
	wide := slices.DeleteFunc(slices.Clone(waits), func(w retryWaits) bool { return w.narrowest <= noise.Tau() })
	r.Detail = fmt.Sprintf("%s; agreed is %s", alike(waits), p.Curve.Jitter)
	switch n := len(waits[0].list); {
	case len(wide) == 0:
		r.Verdict = Inconclusive
		r.Detail += fmt.Sprintf(", which is no wider than the %s by which this machine itself may draw waits apart", span(noise.Tau()))
	case hiddenChance(wide, 0) < jitterAlpha && !noise.Known():
		r.Verdict = Inconclusive
		r.Detail += "; but " + noCanary
	case alikeChance(wide, noise) < jitterAlpha && slices.ContainsFunc(calls, func(c Call) bool { return c.Ambiguous }):
		r.Verdict = Inconclusive
		r.Detail += "; but calls looked the same, and to pair their attempts in order of arrival draws waits together"
	case alikeChance(wide, noise) < jitterAlpha:
		r.Verdict, r.Witness = Fail, wide[0].extremes()
		r.Detail += ", which shows so little spread less than once in 10,000 runs"
	case n < formCalls:
		r.Verdict = Inconclusive
		r.Detail += fmt.Sprintf("; %s cannot show the form, %d would", plural(n, "call"), formCalls)
	default:
		r.Verdict = Pass
	}
	return r
}

// delay is the agreed delay before retry k; 0 where it is not fixed.
func (p JitterRange) delay(k int) time.Duration {
	if k > 1 && (p.Curve.Multiplier == 0 || p.Curve.Jitter.Form == JitterDecorrelated) {
		return 0
	}
	return p.Curve.Delay(k)
}

// outside looks for a wait outside the agreed range.
func (p JitterRange) outside(t *tally, c *Call) {
	retry := 0
	for at, wait := range firstWaits(c) {
		retry++
		delay := p.delay(retry)
		if delay <= 0 || excused(c, at) {
			continue
		}
		floor, ceiling := p.Curve.Jitter.Floor(delay), p.Curve.Jitter.Ceiling(delay)
		from, to := endOf(&c.Attempts[at]), c.Attempts[at+1].At
		say := func() (string, []journal.Entry) {
			return fmt.Sprintf("attempt %d came %s after %s; the contract says %s to %s (%s jitter)", at+2, span(wait), after(&c.Attempts[at]), span(floor), span(ceiling),
				p.Curve.Jitter), c.Attempts[at : at+2]
		}
		switch {
		case wait < floor-c.Run.Noise.Early(floor)-p.Slack:
			t.breach(c, float64(floor-wait)/float64(delay), say)
			return
		case wait > ceiling+c.Run.Noise.Late(ceiling, from, to)+p.Slack:
			t.late(c, lateness{from, to, wait - ceiling, 1}, float64(wait-ceiling)/float64(delay), say)
			return
		}
	}
}
