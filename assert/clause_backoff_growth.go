package assert

import (
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
		ID: "backoff-growth", Level: Major, Pattern: true, Exact: true,
		Summary: "The waits before the retries of a call grow from one to the next, until they reach their cap.",
		Measure: "The growth factor of the mean wait over the first five retries of many calls: exp of the slope of its logarithm, waits that a " +
			"Retry-After directed left out. One sequence proves nothing: correct full jitter waits shorter the second time in a quarter of " +
			"all calls. It fails when chance (1 of 10,000), lateness and clocks that differ by 1 % together leave no room for the agreed factor, " +
			"or for what the agreed maximum leaves of it. Where the contract names initial backoff, multiplier and jitter, no wait may be below " +
			"that curve either.",
		Why: "A constant wait keeps the full retry load on a server for as long as it is down. Two minutes of failure became four hours " +
			"that way: the retries alone kept the server from recovering.",
		Fix: "Multiply the wait by 2 (1.5 at least) for each retry of the same call, up to a maximum; count retries per call, and start over " +
			"only after a success. In libraries choose the exponential policy: the default is often a fixed wait or none.",
		Source: "AWS, \"Exponential Backoff and Jitter\" (2015); gRPC A6; OTLP specification; Standard Webhooks (read in 2026); " +
			"incidents S0 and S2; sample sizes simulated",
		Samples: Samples{Calls: 20, Gaps: 3, Together: true},
		New: func(c *Contract) Clause {
			if c.Backoff.MinGrowth() == 0 {
				return nil
			}
			return &BackoffGrowth{Min: c.Backoff.MinGrowth(), Curve: c.Backoff}
		},
	})
}

// BackoffGrowth promises that waits grow.
type BackoffGrowth struct {
	Min   float64 `yaml:"min" doc:"least factor from one mean wait to the next, 1: they must not shrink; default backoff.growth, else 1.3, which linear growth meets"`
	Curve Delays  `yaml:"-"` // the agreed backoff, for its lower bound and its cap; zero values bind nothing
}

// ID names the clause.
func (p BackoffGrowth) ID() string { return "backoff-growth" }

// Validate finds parameters that make no sense.
func (p *BackoffGrowth) Validate(n strict.Node) {
	between(n, "min", p.Min, 1, most.factor)
}

const (
	growthGaps  = 5                     // retries that count: later ones of a lawful linear backoff grow too little
	bandPass    = 3.0                   // standard errors: 1 of 1,000
	leastCalls  = 5                     // calls that a fail needs at least
	machineLate = 20 * time.Millisecond // lateness that a wait may carry on any machine
	noWait      = 10 * time.Millisecond // a wait below it is none: the client came back at once
	smallWait   = 50 * time.Millisecond // no backoff is that short any more at its fifth retry
)

// Check estimates growth over all calls.
func (p BackoffGrowth) Check(calls []Call) Result {
	if p.Min == 0 {
		p.Min = 1.3
	}
	if r, ok := p.belowCurve(calls); ok {
		return r
	}
	waits, later := p.firstWaits(calls)
	switch len(waits) {
	case 0:
		return p.say(NotExercised, nil, "no call was retried after a wait of the client's own choice")
	case 1:
		return p.say(NotExercised, nil, "every call was retried once only (%s); growth shows from two waits on", plural(len(waits[0]), "call"))
	}
	if waits = afterFreeRetry(waits); p.capped(waits[0]) {
		return p.say(NotExercised, nil, "the waits are at their agreed maximum of %s from the start", span(p.Curve.Longest()))
	}
	return p.judge(waits, later, calls)
}

// judge decides from the waits by retry, two retries at least.
func (p BackoffGrowth) judge(waits [][]time.Duration, later total, calls []Call) Result {
	late := max(machineLate, meanLateness(calls[0].Run.Noise, len(waits[0])))
	best := infer.Trend{Slope: math.Inf(-1)}
	flat := len(waits) >= 3 && len(waits[0]) >= leastCalls
	for k := 2; k <= len(waits); k++ {
		seen, steepest := infer.TrendOf(waits[:k], 0, growthAlpha*0.8), infer.TrendOf(waits[:k], late, growthAlpha*0.8)
		if p.kept(seen, k == len(waits)) && p.beyond(waits[:k], late) {
			return p.say(Pass, nil, "the waits %s: %s (%s)", p.grown(seen), means(waits), plural(seen.Calls, "call"))
		}
		if k >= 3 {
			flat = flat && steepest.Upper+clockShare*seen.Lever < p.asked(waits[:k])
			if seen.Slope > best.Slope {
				best = seen
			}
		}
	}
	if p.hasty(waits, later) || flat && (p.Min == 1 || !atMaximum(waits)) {
		return p.say(Fail, calls, "the waits %s: %s (mean of %s); the contract wants %s", p.short(infer.TrendOf(waits, 0, growthAlpha*0.8)),
			means(waits), plural(len(waits[0]), "call"), p.wanted())
	}
	return p.open(waits, best, flat, late)
}

// beyond reports whether waits grow beyond what lateness alone may feign: where they are so short that it could, their
// medians have to grow too, which a few late ones do not move.
func (p BackoffGrowth) beyond(waits [][]time.Duration, late time.Duration) bool {
	if p.Min == 1 || meanOf(waits[len(waits)-1]) > late {
		return true
	}
	return slopeOf(len(waits), func(k int) float64 {
		sorted := slices.Sorted(slices.Values(waits[k]))
		return float64(max(sorted[len(sorted)/2], time.Microsecond))
	}) >= math.Log(p.Min)-clockShare
}

// kept reports whether a trend is good enough. Where no growth is asked for, all waits count: early ones that do not
// shrink say nothing of later ones.
func (p BackoffGrowth) kept(t infer.Trend, all bool) bool {
	if p.Min == 1 {
		return all && bandPass*t.Error < math.Log(1.3) && t.Slope >= -bandPass*t.Error-clockShare*t.Lever
	}
	clocks := 0.0
	if t.Gaps >= 3 { // two waits may seem to grow that much only because the clocks differ
		clocks = clockShare * t.Lever
	}
	return t.Slope+clocks >= math.Log(p.Min) && t.Slope >= bandPass*t.Error
}

// open says why the waits do not decide.
func (p BackoffGrowth) open(waits [][]time.Duration, best infer.Trend, flat bool, late time.Duration) Result {
	n := len(waits[0])
	switch {
	case len(waits) == 2:
		return p.say(Inconclusive, nil, "two retries a call do not show whether the waits grow: %s (mean of %s); calls with three retries would",
			means(waits), plural(n, "call"))
	case flat:
		return p.say(Inconclusive, nil, "many waits are as long as the longest, so they seem to have reached a maximum, where growth ends: %s "+
			"(mean of %s); a lower initial wait or backoff.max in the contract would tell", means(waits), plural(n, "call"))
	case meanOf(waits[0]) < 4*late:
		return p.say(Inconclusive, nil, "waits this short do not show whether they grow: %s (mean of %s), of which %s may be the machine's lateness",
			means(waits), plural(n, "call"), span(late))
	case p.Min > 1 && best.Slope >= bandPass*best.Error:
		return p.say(Inconclusive, nil, "the waits grow %.2f-fold from retry to retry: %s (mean of %s); too close to the %.4g-fold of the contract "+
			"to call it less", best.Factor(), means(waits), plural(n, "call"), p.Min)
	default:
		return p.say(Inconclusive, nil, "%s with %d retries do not show whether the waits grow: %s (mean, %.2f-fold from retry to retry); "+
			"%d calls with three retries, or half as many with four, would",
			plural(n, "call"), len(waits), means(waits), best.Factor(), max(20, 2*n))
	}
}

// meanLateness bounds how late n attempts were on average: the mean of an exponential tail is about a quarter of its p99,
// and the more attempts the closer they come to it.
func meanLateness(noise Noise, n int) time.Duration {
	p99 := float64(noise.P99(0, maxTime))
	return time.Duration(p99/4 + 0.75*p99/math.Sqrt(float64(n)))
}

// total sums up waits.
type total struct {
	n   int
	sum time.Duration
}

// firstWaits sorts the leading waits of all calls by retry, and sums up those from the fifth retry on. Retries that few
// calls came to are left out: the rest may be a selection.
func (p BackoffGrowth) firstWaits(calls []Call) (waits [][]time.Duration, later total) {
	waits = make([][]time.Duration, growthGaps+1)
	for i := range calls {
		k := 0
		for _, wait := range firstWaits(&calls[i]) {
			if k < len(waits) {
				waits[k] = append(waits[k], wait)
			}
			if k++; k >= growthGaps {
				later.n++
				later.sum += wait
			}
		}
	}
	n := 0
	for n < len(waits) && len(waits[n]) > 0 && 2*len(waits[n]) >= len(waits[0]) {
		n++
	}
	return waits[:n], later
}

// afterFreeRetry drops a first retry that came at once where the later ones waited (min-spacing judges it), and keeps the
// number of retries that count.
func afterFreeRetry(waits [][]time.Duration) [][]time.Duration {
	if len(waits) > 2 && meanOf(waits[0]) < noWait && meanOf(waits[1]) >= 2*noWait {
		waits = waits[1:]
	}
	return waits[:min(len(waits), growthGaps)]
}

// capped reports whether waits are as long as they may get; jitter may halve their mean.
func (p BackoffGrowth) capped(waits []time.Duration) bool {
	longest := p.Curve.Longest()
	return longest > 0 && meanOf(waits) >= longest/20*9
}

// hasty reports whether the client still comes back at once where any backoff would wait: the third retries, or those from
// the fifth on, are together shorter than full jitter on an initial wait of 50 ms that grows as agreed lets them be.
// One-sided, since a machine only makes waits longer.
func (p BackoffGrowth) hasty(waits [][]time.Duration, later total) bool {
	if longest := p.Curve.Longest(); p.Min == 1 || longest > 0 && longest < smallWait {
		return false
	}
	due := func(retry int) time.Duration {
		wait := time.Duration(float64(smallWait) * math.Pow(p.Min, float64(retry-1)))
		if longest := p.Curve.Longest(); longest > 0 {
			wait = min(wait, longest)
		}
		return wait
	}
	if len(waits) >= 3 && meanOf(waits[2]) < noWait && infer.SumChance(len(waits[2]), sumOf(waits[2]), due(3)) < growthAlpha*0.1 {
		return true
	}
	return later.n > 0 && later.sum/time.Duration(later.n) < smallWait && infer.SumChance(later.n, later.sum, due(growthGaps)) < growthAlpha*0.1
}

// belowCurve looks for waits below the curve that the contract names.
func (p BackoffGrowth) belowCurve(calls []Call) (Result, bool) {
	t := tally{id: p.ID()}
	if !p.Curve.fixed() {
		return Result{}, false
	}
	for i := range calls {
		c := &calls[i]
		retry := 0
		for at, wait := range firstWaits(c) {
			retry++
			least := p.Curve.Floor(retry)
			if wait >= least-c.Run.Noise.Early(least) || retry == 1 { // the first wait is min-spacing's
				continue
			}
			t.breach(c, float64(least-wait), func() (string, []journal.Entry) {
				return fmt.Sprintf("attempt %d came after a wait of %s; the agreed backoff has grown to %s there", at+2, span(wait), span(least)),
					c.Attempts[at : at+2]
			})
			break
		}
	}
	return t.result("", "", ""), t.broken > 0
}

// say makes a result; a fail shows the attempts of the call with the most waits, as many as count.
func (p BackoffGrowth) say(v Verdict, calls []Call, format string, args ...any) Result {
	r := Result{Clause: p.ID(), Verdict: v, Detail: fmt.Sprintf(format, args...)}
	if v != Fail {
		return r
	}
	for i := range calls {
		if a := calls[i].Attempts; len(a) > len(r.Witness) && Failed(a[0]) {
			r.Witness = a[:min(len(a), growthGaps+1)]
		}
	}
	return r
}

func sumOf(waits []time.Duration) (sum time.Duration) {
	for _, w := range waits {
		sum += w
	}
	return sum
}

func meanOf(waits []time.Duration) time.Duration {
	return sumOf(waits) / time.Duration(max(1, len(waits)))
}

// means lists the mean waits: "1.02 s, 2.01 s, 4.00 s".
func means(waits [][]time.Duration) string {
	words := make([]string, len(waits))
	for k := range waits {
		words[k] = span(meanOf(waits[k]))
	}
	return strings.Join(words, ", ")
}
