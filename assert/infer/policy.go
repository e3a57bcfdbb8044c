package infer

import (
	"fmt"
	"math"
	"time"
)

// Policy is what is known of the retry policy behind calls. Nothing in it is agreed or documented: it is what was seen.
type Policy struct {
	Calls    int `json:"calls"`
	Requests int `json:"requests"`
	Retried  int `json:"retried"` // calls with a retry

	Attempts   Attempts   `json:"attempts"`
	Backoff    Backoff    `json:"backoff"`
	After      string     `json:"after,omitempty"` // statuses or network, where the waits differ by what failed; else ""
	Other      *Backoff   `json:"other,omitempty"` // the waits after the other
	Answers    []Answer   `json:"answers"`
	Methods    []Method   `json:"methods"`
	RetryAfter RetryAfter `json:"retry_after"`
	Budget     *Budget    `json:"budget,omitempty"`
	Breaker    *Breaker   `json:"breaker,omitempty"`
	Notes      []string   `json:"notes"`
}

// Of infers the policy behind calls.
func Of(calls []Call, o Options) Policy {
	p := Policy{Notes: []string{}}
	kept := make([]Call, 0, len(calls))
	for _, c := range calls {
		if len(c.Attempts) == 0 {
			continue
		}
		p.Requests += len(c.Attempts)
		if c.tries() > 1 {
			p.Retried++
		}
		kept = append(kept, c)
	}
	p.Calls = len(kept)
	p.Attempts = attemptsOf(kept)
	p.Answers, p.Methods = answersOf(kept, p.Attempts)
	p.waits(kept, o)
	p.RetryAfter = retryAfterOf(kept, p, o)
	p.Budget, p.Breaker = protections(kept, p.Attempts)
	if o.Resolution >= time.Second {
		p.Notes = append(p.Notes, fmt.Sprintf("times in the log are rounded to %v; from waits below twice that only counts, limits and rates can be told", o.Resolution))
	}
	return p
}

// waits explains the waits after statuses and after network failures, together where they begin alike.
func (p *Policy) waits(calls []Call, o Options) {
	statuses, network := p.unbiased(calls, false), p.unbiased(calls, true)
	if !apart(statuses, network, o) {
		p.Backoff = BackoffOf(append(statuses.waits, network.waits...), o.on(statuses.clocks, network.clocks))
		return
	}
	first, second := BackoffOf(statuses.waits, o.on(statuses.clocks)), BackoffOf(network.waits, o.on(network.clocks))
	p.Backoff, p.After, p.Other = first, "statuses", &second
	if second.Waits > 2*first.Waits {
		p.Backoff, p.After, p.Other = second, "network", &first
	}
}

// mostCut is the share of calls that may have been cut off before a retry for the waits before it to count. Where the time is
// up, or the client's own deadline ends the call, short waits are seen and long ones are not.
const mostCut = 0.2

// timed is the waits of calls, and the fastest clocks that showed those before each retry.
type timed struct {
	waits  [][]time.Duration
	clocks []float64
}

// unbiased collects the waits of calls up to the retry that many calls did not live to see.
func (p *Policy) unbiased(calls []Call, network bool) (all timed) {
	retried := map[string]bool{}
	for _, a := range p.Answers {
		retried[a.Answer] = a.Verdict == Retried
	}
	var made, cut []int // by retry: calls that made it, and calls that ended in a failure that others retry
	count := func(list *[]int, k int) {
		for k >= len(*list) {
			*list = append(*list, 0)
		}
		(*list)[k]++
	}
	for i := range calls {
		c := &calls[i]
		waits, clocks := c.chosen(network)
		all.clocks = fastest(all.clocks, clocks)
		for k := range waits {
			count(&made, k)
		}
		if last := c.last(); last.Network == network && last.Failed && retried[last.Answer] && !last.Told && len(waits) == c.tries()-1 {
			count(&cut, len(waits))
		}
		if len(waits) > 0 {
			all.waits = append(all.waits, waits)
		}
	}
	for k := 1; k < len(made); k++ {
		if k < len(cut) && float64(cut[k]) > mostCut*float64(made[k]+cut[k]) {
			for i, waits := range all.waits {
				all.waits[i] = waits[:min(len(waits), k)]
			}
			break
		}
	}
	return all
}

// fastest is the faster of two clocks before each retry.
func fastest(a, b []float64) []float64 {
	all := append([]float64(nil), a...)
	for k, clock := range b {
		if k == len(all) {
			all = append(all, clock)
		}
		all[k] = max(all[k], clock)
	}
	return all
}

// apart reports whether two sets of calls wait differently before their first retries, by more than their own spread.
func apart(a, b timed, o Options) bool {
	if len(a.waits) < leastCalls || len(b.waits) < leastCalls {
		return false
	}
	one := func(all timed) *sample {
		s := newSample(all.waits, o.on(all.clocks))
		return s.only(func(retry int) (int, bool) { return 0, retry == 0 })
	}
	x, y := one(a), one(b)
	lo, hi := x, y
	if lo.middle[0] > hi.middle[0] {
		lo, hi = hi, lo
	}
	slack := max(immediately.Seconds(), 8*lo.noise.mean*lo.clocks[0], 2*lo.noise.tick) // what is late is longer
	return quantile(lo.by[0], 0.9)+slack < quantile(hi.by[0], 0.1) && hi.middle[0] > 1.5*lo.middle[0]
}

// agreeing is the confidence that so many cases without an exception give: Laplace's rule of succession.
func agreeing(n int) float64 { return math.Round(1000*float64(n+1)/float64(n+2)) / 1000 }

// Shows reports whether anything of a policy shows: a call was tried again, or failed for good.
func (p Policy) Shows() bool { return p.Retried > 0 || p.Attempts.Ended > 0 }
