package assert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "jitter-present", Level: Major,
		Summary: "The waits before the same retry differ from call to call and from client to client.",
		Measure: "For each retry the distance from the shortest to the longest wait over all calls, the longest 15 % left out. More than 5 % of " +
			"the wait and more than the machine's noise (25 ms, three times the canary's lateness) is jitter. It fails when all are within " +
			"the noise, and jitter of +-10 % would show so little less than once in 10,000 runs.",
		Why: "Clients that fail together and wait the same time come back together, as one wave, again and again: a thousand phones, " +
			"three thousand nodes. Backoff alone only moves the wave.",
		Fix: "Draw each wait at random: full jitter between 0 and the delay, or at least half of it. Seed the generator per process; switch on " +
			"the jitter option that many libraries leave off.",
		Source: "AWS, \"Exponential Backoff and Jitter\" (2015); Google SRE book, chapter 22 (always randomise); OTLP specification; " +
			"Standard Webhooks (read in 2026); incident S0",
		Late: true, Shown: true, Samples: Samples{Calls: 10, Gaps: 3},
		New: func(c *Contract) Clause {
			if !c.Backoff.Jitter.Required() {
				return nil
			}
			return &JitterPresent{}
		},
	})
}

// JitterPresent promises that waits differ.
type JitterPresent struct {
	Share float64 `yaml:"share"` // spread that counts as jitter, as a share of the wait; default 0.05
}

// ID names the clause.
func (p JitterPresent) ID() string { return "jitter-present" }

// Validate finds parameters that make no sense.
func (p *JitterPresent) Validate(n strict.Node) {
	between(n, "share", p.Share, 0.001, 1)
}

// The narrowest jitter that has to be told from none: +-10 % of the wait, or up to 100 ms added to a wait of any length, as
// some libraries do.
const (
	leastJitter = 0.2
	leastAdded  = 100 * time.Millisecond
)

// Check measures the spread of waits by retry.
func (p JitterPresent) Check(calls []Call) Result {
	if p.Share <= 0 {
		p.Share = 0.05
	}
	r := Result{Clause: p.ID()}
	waits := waitsByRetry(calls)
	if len(waits) == 0 {
		r.Detail = "no call was retried after a wait of the client's own choice"
		return r
	}
	tau := calls[0].Run.Noise.Tau()
	apart, hasty := false, true
	var still []retryWaits // those that are alike beyond doubt
	for k, w := range waits {
		s := w.spread
		if s.N >= leastCalls && s.Width > max(tau, time.Duration(p.Share*float64(s.Median))) {
			r.Verdict = Pass
			r.Detail = fmt.Sprintf("the waits before attempt %d lie %s apart around %s (%s)", k+2, span(s.Width), span(s.Median), plural(s.N, "call"))
			return r
		}
		apart = apart || s.Width > max(noiseFloor, time.Duration(p.Share*float64(s.Median)))
		if s.Width <= resolution(s) {
			still = append(still, w)
		}
		hasty = hasty && s.Median < 2*noWait
	}
	first, calmly := waits[0], steady(still, calls[0].Run.Noise)
	r.Verdict = Inconclusive
	switch {
	case hasty:
		r.Verdict = NotExercised
		r.Detail = fmt.Sprintf("the client retries at once (%s on average), so there is no wait that could differ", span(first.mean()))
	case len(first.list) < 10:
		r.Detail = fmt.Sprintf("%s cannot show whether the waits differ; 10 would", plural(len(first.list), "call"))
	case apart:
		r.Detail = fmt.Sprintf("%s: the machine itself draws waits apart by %s, so they need not be jittered", alike(waits), span(tau))
	case len(still) == 0:
		r.Detail = fmt.Sprintf("%s: more than the machine explains, less than the %.0f %% that count as jitter", alike(waits), 100*p.Share)
	case hiddenChance(still, 0)*choices(len(waits), len(still)) >= rare:
		r.Detail = fmt.Sprintf("%s, which jitter of 10 %% could show by chance; %s would tell", alike(waits), enough(waits))
	case !calls[0].Run.Noise.Known():
		r.Detail = alike(waits) + "; but " + noCanary
	case hiddenChance(calmly, 0)*choices(len(waits), len(calmly)) >= rare:
		r.Detail = fmt.Sprintf("%s; but the canary was late by up to %s, and a machine that stalls so long draws waits together",
			alike(waits), span(calls[0].Run.Noise.Max(0, maxTime)))
	default:
		r.Verdict = Fail
		r.Detail = fmt.Sprintf("%d calls waited alike, %s: clients that fail together come back together; the contract wants waits to differ",
			len(first.list), alike(waits))
		r.Witness = still[0].extremes()
	}
	return r
}

// resolution is the width up to which waits count as alike. It is not widened on a slow machine: that only draws waits
// apart.
func resolution(s infer.Spread) time.Duration { return max(noiseFloor, s.Median/100) }

// steady leaves out the waits that a stall of the machine could have made alike. What is due during one arrives when it is
// over, all together; but then the waits are alike only if the attempts before had ended together too.
func steady(waits []retryWaits, n Noise) []retryWaits {
	return slices.DeleteFunc(slices.Clone(waits), func(w retryWaits) bool {
		from, to := maxTime, time.Duration(0)
		ends := make([]time.Duration, len(w.list))
		for i, l := range w.list {
			before := attemptBefore(l.call, l.at)
			at := l.call.Attempts[before+1].At
			ends[i], from, to = endOf(&l.call.Attempts[before]), min(from, at), max(to, at)
		}
		slices.Sort(ends)
		together := infer.SpreadOf(w.spread.Retry, ends).Width <= 2*w.spread.Width+noiseFloor
		return together && n.Max(from, to) > narrowest(w.spread)/4*3 // a shorter one leaves enough outside
	})
}

// narrowest is the width of the narrowest jitter that such waits could have.
func narrowest(s infer.Spread) time.Duration {
	return min(leastAdded, time.Duration(leastJitter*float64(s.Median)))
}

// hiddenChance is how likely waits with the narrowest jitter that counts would all be as alike as these, in n calls, or in
// as many as there are for 0. The machine's noise only draws waits apart, so it makes that less likely.
func hiddenChance(waits []retryWaits, n int) float64 {
	chance := 1.0
	for _, w := range waits {
		chance *= infer.EqualChance(max(n, w.spread.N), narrowest(w.spread), w.spread.Width)
	}
	return chance
}

// choices is in how many ways k of n retries can be the ones that look alike by chance.
func choices(n, k int) float64 {
	ways := 1.0
	for i := range k {
		ways *= float64(n-i) / float64(i+1)
	}
	return ways
}

// enough names the evidence that would decide.
func enough(waits []retryWaits) string {
	for n := len(waits[0].list) + 1; n <= 100; n++ {
		if hiddenChance(waits, n) < rare {
			return fmt.Sprintf("longer waits or %d calls", n)
		}
	}
	return "longer waits"
}

// retryWaits are the waits before one retry over all calls.
type retryWaits struct {
	list   []located // the shortest first
	spread infer.Spread
}

// located is a wait and where it was seen.
type located struct {
	wait time.Duration
	call *Call
	at   int
}

// waitsByRetry sorts the leading own waits of all calls by retry, the shortest first.
func waitsByRetry(calls []Call) []retryWaits {
	var by []retryWaits
	for i := range calls {
		c := &calls[i]
		for k, wait := range firstWaits(c) {
			if k == len(by) {
				if k == growthGaps {
					break
				}
				by = append(by, retryWaits{})
			}
			by[k].list = append(by[k].list, located{wait, c, k})
		}
	}
	for k := range by {
		list := by[k].list
		slices.SortFunc(list, func(a, b located) int { return cmp.Compare(a.wait, b.wait) })
		sorted := make([]time.Duration, len(list))
		for i, l := range list {
			sorted[i] = l.wait
		}
		by[k].spread = infer.SpreadOf(k+1, sorted)
	}
	return by
}

func (w retryWaits) mean() time.Duration {
	var sum time.Duration
	for _, l := range w.list {
		sum += l.wait
	}
	return sum / time.Duration(max(1, len(w.list)))
}

// extremes are the two calls that differ most and still hardly do: each failed attempt and its retry.
func (w retryWaits) extremes() []journal.Entry {
	kept := len(w.list) - infer.Dropped(len(w.list))
	var shown []journal.Entry
	for _, l := range []located{w.list[0], w.list[kept-1]} {
		at := attemptBefore(l.call, l.at)
		shown = append(shown, l.call.Attempts[at:at+2]...)
	}
	return shown
}

// alike lists the waits: "2 ms apart around 1.00 s, 3 ms around 2.00 s".
func alike(waits []retryWaits) string {
	words := make([]string, len(waits))
	for k, w := range waits {
		s := w.spread
		apart := " "
		if k == 0 {
			apart = " apart "
		}
		words[k] = span(s.Width) + apart + "around " + span(s.Median)
	}
	return strings.Join(words, ", ")
}
