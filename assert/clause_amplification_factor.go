package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "amplification-factor", Level: Critical, Proof: ByCap,
		Summary: "While things fail, the server sees no more requests for each call than agreed.",
		Measure: "All attempts divided by all calls, of the calls that met a failure. Hidden transport resends are left out.",
		Why: "It is the factor by which retries multiply the load on a server that is already failing. Three layers that make four attempts " +
			"each are 64 requests for one call.",
		Fix: "Retry in one layer only; give a client a retry budget (10 % of its requests); count what reaches the server, not what the retry " +
			"code believes.",
		Source:  "Google SRE book, chapter 22 (64-fold over three layers); Amazon Builders' Library (243-fold over five); incidents S0 and S1",
		Samples: Samples{Calls: 50},
		New: func(c *Contract) Clause {
			if c.Limits.Amplification == 0 {
				return nil
			}
			return &AmplificationFactor{Max: c.Limits.Amplification, Quiet: quietOf(c)}
		},
	})
}

// AmplificationFactor promises a bound on requests per call under failure.
type AmplificationFactor struct {
	Max   float64       `yaml:"max" doc:"attempts per call, on average; default limits.amplification, else 4"`
	Quiet time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p AmplificationFactor) ID() string { return "amplification-factor" }

// Validate finds parameters that make no sense.
func (p *AmplificationFactor) Validate(n strict.Node) {
	atLeast(n, "max", p.Max, 1)
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check divides attempts by calls.
func (p AmplificationFactor) Check(calls []Call) Result {
	if p.Max <= 0 {
		p.Max = 4
	}
	r, ends := Result{Clause: p.ID()}, endingsOf(calls, p.Quiet)
	attempts, failing, over, most := 0, 0, 0, 0
	var worst *Call
	for i := range calls {
		c := &calls[i]
		if !metFailure(c) {
			continue
		}
		failing++
		tries := c.Tries()
		attempts += tries
		if ends.over(c) {
			over++
		}
		if tries > most {
			worst, most = c, tries
		}
	}
	if failing == 0 {
		r.Detail = "no call met a failure"
		return r
	}
	factor := float64(attempts) / float64(failing)
	text := fmt.Sprintf("%s for %s that met a failure: %.1f for each", plural(attempts, "request"), plural(failing, "call"), factor)
	switch {
	case factor > p.Max*(1+1e-9):
		r.Verdict = Fail
		r.Detail = fmt.Sprintf("%s; the contract allows %.4g, and %s alone made %d", text, p.Max, named(worst.Client), most)
		r.Witness = worst.Attempts[:min(len(worst.Attempts), int(p.Max)+1)]
	case 2*over < failing:
		r.Verdict = Inconclusive
		r.Detail = ends.unsure(text)
	default:
		r.Verdict = Pass
		r.Detail = fmt.Sprintf("%s; the contract allows %.4g", text, p.Max)
	}
	return r
}

func metFailure(c *Call) bool {
	for i := range c.Attempts {
		if e := &c.Attempts[i]; e.Status < 200 || e.Status >= 300 || e.Cut || e.Gone > 0 {
			if failed(e) {
				return true
			}
		}
	}
	return false
}
