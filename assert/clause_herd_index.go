package assert

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "herd-index", Level: Critical, Late: true, Counts: true,
		Summary: "Clients that failed together do not come back together.",
		Measure: "The largest share of the clients that make retry k within one window of 50 ms, or 10 % of the median wait if that is more, each " +
			"measured from its own failure; for each of the first three retries. More than 75 % fail, unless the narrowest lawful jitter (where " +
			"the contract names none: 10 % either way, or 100 ms), with the canary's longest stall, draws as many as close by a chance of 1 in 10,000.",
		Why: "Whatever fails a thousand clients at once (a restart, a full network) makes them one crowd. Without jitter the crowd stays one: it " +
			"comes back 1, 2 and 4 s later, each time all at once, onto a server that has just come up.",
		Fix: "Draw each wait at random, best between 0 and the whole delay, and seed the generator differently in each client. Spread periodic work " +
			"and reconnects in the same way.",
		Source:  "incident S0 (a thousand clients fail and return together); AWS Architecture Blog 2015, Exponential Backoff And Jitter; Builders' Library 2019",
		Samples: Samples{Calls: 30, Gaps: 1, Together: true},
		New: func(c *Contract) Clause {
			if !c.Backoff.Jitter.Required() || c.Attempts.Max == 1 {
				return nil
			}
			return &HerdIndex{Curve: c.Backoff}
		},
	})
}

const (
	leastHerd   = 50 * time.Millisecond // narrowest window
	herdRetries = 3                     // how many retries are looked at
	leastFleet  = 10                    // clients below that show nothing, whatever they do
)

// HerdIndex promises that no more than a share of clients come back within one window.
type HerdIndex struct {
	Max   float64 `yaml:"max" doc:"largest share of the clients in one window, 0.1 to 1; default 0.75"`
	Curve Delays  `yaml:"-"` // the agreed waits, which say how wide lawful jitter is
}

// ID names the clause.
func (p HerdIndex) ID() string { return "herd-index" }

// Validate finds parameters that make no sense.
func (p *HerdIndex) Validate(n strict.Node) { between(n, "max", p.Max, 0.1, 1) }

// Check finds the fullest window of each retry.
func (p HerdIndex) Check(calls []Call) Result {
	p.Max = cmp.Or(p.Max, 0.75)
	r := Result{Clause: p.ID()}
	var herds []herd
	for k, list := range firstReturns(calls) {
		if len(list) > 0 {
			herds = append(herds, p.measure(k+1, list))
		}
	}
	if len(herds) == 0 {
		r.Detail = "no client came back by itself after a failure"
		return r
	}
	texts, tight := make([]string, len(herds)), 0
	var doubt string
	least, chance := herds[0], 1.0 // of those that are crowds all at once
	for i, h := range herds {
		texts[i] = h.String()
		if h.share() <= p.Max {
			continue
		}
		tight++
		doubt = cmp.Or(doubt, p.doubt(h))
		if h.all < leastFleet {
			continue
		}
		if chance *= h.chance; h.chance < least.chance || least.share() <= p.Max {
			least = h
		}
	}
	if chance*choices(len(herds), tight) < herdAlpha {
		r.Verdict, r.Witness = Fail, least.witness()
		r.Detail = fmt.Sprintf("%s, measured from each one's failure; the contract allows %.0f %%: clients that fail together come back together",
			least, 100*p.Max)
		return r
	}
	switch {
	case herds[0].all < leastFleet:
		if herds[0].all > 2 { // one or two are no crowd
			r.Verdict = Inconclusive
		}
		r.Detail = fmt.Sprintf("only %s came back, too few for a crowd; %d would tell", plural(herds[0].all, "client"), 30)
	case tight == len(herds):
		r.Verdict, r.Detail = Inconclusive, doubt
	default:
		r.Verdict, r.Detail = Pass, "at most "+texts[0]
		for _, text := range texts[1:] {
			r.Detail += ", " + text
		}
	}
	return r
}

// herd is the fullest window of one retry.
type herd struct {
	retry, all int
	in         []located // those in the window
	width      time.Duration
	close      time.Duration // narrowest window that holds more than the contract allows
	lawful     time.Duration // width of the narrowest jitter that the waits may have
	stall      time.Duration // of the machine, while they were due
	known      bool          // whether there was a canary
	chance     float64       // that lawful jitter shows this
}

func (h herd) share() float64 { return float64(len(h.in)) / float64(h.all) }

func (h herd) String() string {
	return fmt.Sprintf("%d of %d clients made retry %d within %s (%.0f %%)", len(h.in), h.all, h.retry, span(h.width), 100*h.share())
}

// witness is the failure and the return of the first and the last in the window.
func (h herd) witness() []journal.Entry {
	var shown []journal.Entry
	for _, l := range []located{h.in[0], h.in[len(h.in)-1]} {
		shown = append(shown, l.call.Attempts[l.at:l.at+2]...)
	}
	return shown
}

// measure finds the fullest window among the waits before retry k, which are sorted.
func (p HerdIndex) measure(k int, list []located) herd {
	median := list[len(list)/2].wait
	h := herd{retry: k, all: len(list), width: max(leastHerd, median/10), lawful: p.lawful(k, median)}
	from, crowd := 0, int(p.Max*float64(len(list)))+1
	h.close = maxTime
	for i := range list {
		for list[i].wait-list[from].wait > h.width {
			from++
		}
		if i-from+1 > len(h.in) {
			h.in = list[from : i+1]
		}
		if i+1 >= crowd {
			h.close = min(h.close, list[i].wait-list[i+1-crowd].wait)
		}
	}
	begin, end := maxTime, time.Duration(0)
	for _, l := range h.in {
		at := l.call.Attempts[l.at+1].At
		begin, end = min(begin, at), max(end, at)
	}
	noise := h.in[0].call.Run.Noise
	h.known, h.stall = noise.Known(), noise.Max(begin, end)
	h.chance = 1
	if h.known && h.share() > p.Max {
		near := func(late time.Duration) float64 {
			return infer.CrowdChance(h.all, crowd, float64(h.close+late+time.Millisecond)/float64(max(1, h.lawful)))
		}
		h.chance = min(near(h.stall), near(min(h.stall, noiseFloor))+noise.stood(begin, end, noiseFloor)) // a stall is rare, or short
	}
	return h
}

// lawful is how wide jitter has to be at retry k.
func (p HerdIndex) lawful(k int, median time.Duration) time.Duration {
	if j := p.Curve.Jitter; j.Form > JitterNone {
		return j.width(median, p.Curve.Delay(k))
	}
	return narrowest(infer.Spread{Median: median})
}

// doubt says why a crowd may be no herd.
func (p HerdIndex) doubt(h herd) string {
	switch {
	case !h.known:
		return h.String() + "; but " + noCanary
	case h.all < leastFleet:
		return h.String() + ", too few for a crowd; 30 would tell"
	case h.stall > h.lawful/4:
		return fmt.Sprintf("%s; but the canary was late by up to %s, and a machine that stalls so long draws clients together", h, span(h.stall))
	default:
		return fmt.Sprintf("%s, as jitter within %s lets them by chance; longer waits or more clients would tell", h, span(h.lawful))
	}
}

// firstReturns lists for each of the first retries the waits before it, the shortest first: one of each client, from its
// first call that failed.
func firstReturns(calls []Call) [][]located {
	by, seen := make([][]located, herdRetries), map[string]bool{}
	for i := range calls {
		c := &calls[i]
		if seen[c.Client] {
			continue
		}
		retry := 0
		for at, wait := range ownWaits(c) {
			if retry == herdRetries {
				break
			}
			seen[c.Client] = true
			by[retry] = append(by[retry], located{wait, c, at})
			retry++
		}
	}
	for _, list := range by {
		slices.SortFunc(list, func(a, b located) int { return cmp.Compare(a.wait, b.wait) })
	}
	return by
}
