package assert

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "jitter-present", Level: Major, Pattern: true,
		Summary: "The waits before the same retry differ from call to call and from client to client.",
		Measure: "For each retry the distance from the shortest to the longest wait over all calls, the longest 15 % left out. More than 5 % of " +
			"the wait (or a quarter of what the agreed jitter gives, if that is less) and more than the machine's noise (25 ms, three times the " +
			"canary's lateness) is jitter. It fails when all are within the noise, and the agreed jitter would show so little less than once in " +
			"10,000 runs; where the contract leaves its form open, +-10 %, or up to 100 ms. Jitter within the noise cannot be shown. Where only the first " +
			"waits differ, by less than half, and two later ones are alike beyond doubt, it stays open: that may be what clients load before they retry.",
		Why: "Clients that fail together and wait the same time come back together, as one wave, again and again: a thousand phones, " +
			"three thousand nodes. Backoff alone only moves the wave.",
		Fix: "Draw each wait at random: full jitter between 0 and the delay, or at least half of it. Seed the generator per process; switch on " +
			"the jitter option that many libraries leave off.",
		Source: "AWS, \"Exponential Backoff and Jitter\" (2015); Google SRE book, chapter 22 (always randomise); OTLP specification; " +
			"Standard Webhooks (read in 2026); incident S0",
		Late: true, Shown: true, Samples: Samples{Calls: 10, Gaps: 3, Together: true},
		New: func(c *Contract) Clause {
			if !c.Backoff.Jitter.Required() {
				return nil
			}
			return &JitterPresent{Curve: c.Backoff}
		},
	})
}

// JitterPresent promises that waits differ.
type JitterPresent struct {
	Share float64 `yaml:"share" doc:"spread that counts as jitter, as a share of the wait; default 0.05, or a quarter of the agreed width if less"`
	Curve Delays  `yaml:"-"` // the agreed backoff, for the width of its jitter; the zero value leaves its form open
}

// ID names the clause.
func (p JitterPresent) ID() string { return "jitter-present" }

// Validate finds parameters that make no sense.
func (p *JitterPresent) Validate(n strict.Node) {
	between(n, "share", p.Share, 0.001, 1)
}

// The narrowest jitter that has to be told from none where no form is agreed: +-10 % of the wait, or up to 100 ms added to a wait of any length, as
// some libraries do.
const (
	leastJitter = 0.2
	leastAdded  = 100 * time.Millisecond
)

// Check measures the spread of waits by retry.
func (p JitterPresent) Check(calls []Call) Result {
	r := Result{Clause: p.ID()}
	waits := waitsByRetry(calls)
	if len(waits) == 0 {
		r.Detail = "no call was retried after a wait of the client's own choice"
		return r
	}
	noise := calls[0].Run.Noise
	hasty := true
	for k := range waits {
		p.size(&waits[k])
	}
	loads := p.loads(waits, noise)
	for k := range waits {
		w := &waits[k]
		if s := w.spread; w.apart(noise) {
			if k == 0 && loads {
				r.Verdict = Inconclusive
				r.Detail = alike(waits) + ": only the first waits lie apart, which may be what the clients load before they retry, and no jitter"
				return r
			}
			r.Verdict = Pass
			r.Detail = fmt.Sprintf("the waits before attempt %d lie %s apart around %s (%s)", k+2, span(s.Width), span(s.Median), plural(s.N, "call"))
			return r
		}
		hasty = hasty && w.spread.Median < 2*noWait
	}
	if hasty {
		r.Verdict = NotExercised
		r.Detail = fmt.Sprintf("the client retries at once (%s on average), so there is no wait that could differ", span(waits[0].mean()))
		return r
	}
	// Those that are alike beyond doubt, although jitter would show.
	still := p.still(waits, noise)
	if r.Detail = p.doubt(waits, still, noise); r.Detail != "" {
		r.Verdict = Inconclusive
		return r
	}
	r.Verdict = Fail
	r.Detail = fmt.Sprintf("%d calls waited alike, %s: clients that fail together come back together; the contract wants waits to differ",
		len(waits[0].list), alike(waits))
	r.Witness = still[0].extremes()
	return r
}

// apart reports whether waits differ by more than the machine makes them.
func (w retryWaits) apart(noise Noise) bool {
	return w.spread.N >= leastCalls && w.spread.Width > max(noise.Tau(), w.counts)
}

// still are the waits that are alike although jitter would show.
func (p JitterPresent) still(waits []retryWaits, noise Noise) []retryWaits {
	return slices.DeleteFunc(slices.Clone(waits), func(w retryWaits) bool {
		return w.spread.Width > resolution(w.spread) || p.tooNarrow(w, noise)
	})
}

// loads reports whether what draws only the first waits apart, by less than half, may be what the clients load before they retry: two
// later ones are alike beyond doubt.
func (p JitterPresent) loads(waits []retryWaits, noise Noise) bool {
	later := slices.DeleteFunc(slices.Clone(waits[1:]), func(w retryWaits) bool { return w.spread.N < leastCalls })
	if len(later) < 2 || 2*waits[0].spread.Width > waits[0].spread.Median {
		return false
	}
	still := p.still(later, noise)
	return len(still) == len(later) && hiddenChance(still, 0) < jitterAlpha
}

// size fills in how far jitter has to draw the waits apart at least, and from where on it counts.
func (p JitterPresent) size(w *retryWaits) {
	w.counts = time.Duration(cmp.Or(p.Share, 0.05) * float64(w.spread.Median))
	w.narrowest = narrowest(w.spread)
	if p.agreed() {
		w.narrowest = p.Curve.Jitter.width(w.spread.Median, p.Curve.Delay(w.spread.Retry))
		if p.Share == 0 {
			w.counts = min(w.counts, w.narrowest/4)
		}
	}
}

// agreed reports whether the contract names a form of jitter.
func (p JitterPresent) agreed() bool { return p.Curve.Jitter.Form > JitterNone }

// tooNarrow reports whether the agreed jitter is within what a machine does to any wait.
func (p JitterPresent) tooNarrow(w retryWaits, noise Noise) bool {
	return p.agreed() && w.narrowest <= noise.Tau()
}

// doubt says why the waits do not show that there is no jitter; "" if they do.
func (p JitterPresent) doubt(waits, still []retryWaits, noise Noise) string {
	tau, narrow, apart := noise.Tau(), true, false
	for _, w := range waits {
		narrow = narrow && p.tooNarrow(w, noise)
		apart = apart || w.spread.Width > max(noiseFloor, w.counts)
	}
	switch n := len(waits[0].list); {
	case n < 10:
		return fmt.Sprintf("%s cannot show whether the waits differ; 10 would", plural(n, "call"))
	case narrow:
		return fmt.Sprintf("%s: the agreed jitter (%s) is no more than the %s by which this machine itself may draw waits apart",
			alike(waits), p.Curve.Jitter, span(tau))
	case apart || len(still) == 0:
		return p.between(waits, tau)
	case hiddenChance(still, 0)*choices(len(waits), len(still)) >= jitterAlpha:
		return fmt.Sprintf("%s, which jitter of %s could show by chance; %s would tell", alike(waits), p.least(), p.enough(waits))
	case !noise.Known():
		return alike(waits) + "; but " + noCanary
	case alikeChance(still, noise)*choices(len(waits), len(still)) >= jitterAlpha:
		return fmt.Sprintf("%s; but the canary was late by up to %s, and a machine that stalls so long draws waits together",
			alike(waits), span(noise.Max(0, maxTime)))
	}
	return ""
}

// least names the narrowest jitter that has to be told from none.
func (p JitterPresent) least() string {
	if p.agreed() {
		return "the agreed form (" + p.Curve.Jitter.String() + ")"
	}
	return "10 %"
}

// between says why waits that lie apart are not enough for jitter: the first reason that fits the widest.
func (p JitterPresent) between(waits []retryWaits, tau time.Duration) string {
	w := slices.MaxFunc(waits, func(a, b retryWaits) int {
		return cmp.Compare(a.spread.Width-max(noiseFloor, a.counts), b.spread.Width-max(noiseFloor, b.counts))
	})
	switch s := w.spread; {
	case s.Width > max(tau, w.counts):
		return fmt.Sprintf("%s: only %s made retry %d, too few to tell; %d would", alike(waits), plural(s.N, "call"), s.Retry, leastCalls)
	case s.Width > w.counts:
		return fmt.Sprintf("%s: the machine itself draws waits apart by %s, so they need not be jittered", alike(waits), span(tau))
	default:
		return fmt.Sprintf("%s: more than the machine explains, less than the %s that count as jitter", alike(waits), share(w))
	}
}

// share is the spread that counts, as a share of the wait where it is one in whole percent.
func share(w retryWaits) string {
	percent := 100 * float64(w.counts) / float64(max(1, w.spread.Median))
	if math.Abs(percent-math.Round(percent)) < 0.01 {
		return fmt.Sprintf("%.0f %%", percent)
	}
	return span(w.counts)
}

// resolution is the width up to which waits count as alike. It is not widened on a slow machine: that only draws waits
// apart.
func resolution(s infer.Spread) time.Duration { return max(noiseFloor, s.Median/100) }

// shaken is the chance that a stall of the machine made the waits alike. What is due during one arrives when it is over, all
// together; but then the waits are alike only if the attempts before had ended together too.
func (w retryWaits) shaken(n Noise) float64 {
	from, to := maxTime, time.Duration(0)
	ends := make([]time.Duration, len(w.list))
	for i, l := range w.list {
		at := l.call.Attempts[l.at+1].At
		ends[i], from, to = endOf(&l.call.Attempts[l.at]), min(from, at), max(to, at)
	}
	slices.Sort(ends)
	if infer.SpreadOf(w.spread.Retry, ends).Width > 2*w.spread.Width+noiseFloor {
		return 0
	}
	return n.stood(from, to, w.narrowest/4*3) // a shorter one leaves enough outside
}

// alikeChance is how likely jitter and the machine make the waits as alike as they are: each either by a stall, or else those
// without one by the chance of their draws.
func alikeChance(waits []retryWaits, noise Noise) float64 {
	chance, stalls := hiddenChance(waits, 0), make([]float64, len(waits))
	for i, w := range waits {
		stalls[i] = w.shaken(noise)
	}
	for stalled := 1; stalled < 1<<len(waits); stalled++ {
		all, drawn := 1.0, []retryWaits(nil)
		for i, w := range waits {
			if stalled&(1<<i) != 0 {
				all *= stalls[i]
			} else {
				drawn = append(drawn, w)
			}
		}
		if all > 0 {
			chance += all * hiddenChance(drawn, 0)
		}
	}
	return min(1, chance)
}

// narrowest is the width of the narrowest jitter that such waits could have where the contract leaves the form open.
func narrowest(s infer.Spread) time.Duration {
	return min(leastAdded, time.Duration(leastJitter*float64(s.Median)))
}

// hiddenChance is how likely waits with the narrowest jitter that counts would all be as alike as these, in n calls, or in
// as many as there are for 0. The machine's noise only draws waits apart, so it makes that less likely. The chances of
// several retries are combined as Fisher does: their bare product is small too often.
func hiddenChance(waits []retryWaits, n int) float64 {
	product := 1.0
	for _, w := range waits {
		product *= infer.EqualChance(max(n, w.spread.N), w.narrowest, w.spread.Width)
	}
	chance, term := product, product
	for i := 1; i < len(waits) && product > 0; i++ {
		term *= -math.Log(product) / float64(i)
		chance += term
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
func (p JitterPresent) enough(waits []retryWaits) string {
	more := "longer waits"
	if p.Curve.Jitter.Form == JitterAdditive { // which is as wide however long the wait
		more = "wider jitter"
	}
	for n := len(waits[0].list) + 1; n <= 100; n++ {
		if hiddenChance(waits, n) < jitterAlpha {
			return fmt.Sprintf("%s or %d calls", more, n)
		}
	}
	return more
}

// retryWaits are the waits before one retry over all calls.
type retryWaits struct {
	list      []located // the shortest first
	spread    infer.Spread
	narrowest time.Duration // width of the narrowest jitter that has to be told from none
	counts    time.Duration // width from which on it counts as jitter
}

// located is a wait and where it was seen.
type located struct {
	wait time.Duration
	call *Call
	at   int // index of the attempt before it
}

// waitsByRetry sorts the leading own waits of all calls by retry, the shortest first.
func waitsByRetry(calls []Call) []retryWaits {
	var by []retryWaits
	for i := range calls {
		c := &calls[i]
		k := 0
		for at, wait := range firstWaits(c) {
			if k == growthGaps {
				break
			}
			if k == len(by) {
				by = append(by, retryWaits{})
			}
			by[k].list = append(by[k].list, located{wait, c, at})
			k++
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
		shown = append(shown, l.call.Attempts[l.at:l.at+2]...)
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
