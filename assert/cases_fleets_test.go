package assert_test

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// fleetCases are about many clients, or many calls of one.
func fleetCases() []publicCase {
	const opens = "breaker: {failures: 10, open: 500ms, probes: 1}\nattempts: {max: 1}\nlimits: {client-rate: 1000/1m}"
	const pairs = "breaker: {failures: 20, open: 2s, probes: 1}\nattempts: {max: 1}\nlimits: {client-rate: 1000/1m}"
	return []publicCase{
		{source: "kubernetes 87794: fifty clients come back every second", contract: "attempts: {max: 10, within: 60s}\nbackoff: {initial: 1s, growth: 1, max: 60s, jitter: any}",
			bad: dropped(50, 3, func(*rand.Rand) ns { return s }), good: dropped(50, 3, upTo(2*s)), breaks: []string{"herd-index", "jitter-present"}},
		{source: "odoo 276869: a second of jitter where thirty were agreed", contract: "attempts: {max: 10, within: unlimited}\nbackoff: {initial: 30s, multiplier: 2, max: 2m, jitter: full}",
			bad: dropped(100, 0, upTo(s)), good: dropped(100, 0, upTo(30*s)), breaks: []string{"min-spacing"}},
		{source: "opossum 276: a failed probe leaves the breaker half open", contract: opens, many: true, run: asked(10*ms, 100, 100*ms, 100),
			bad: probed(10, 600*ms, 1, 0), good: probed(10, 600*ms, 3, 80), breaks: []string{"circuit-breaker"}},
		{source: "OmniRoute 13836: a probe that never ends", contract: opens, many: true, run: asked(10*ms, 100, 100*ms, 100),
			bad: hung(probed(10, 600*ms, 0, 0)), good: probed(10, 600*ms, 3, 80), breaks: []string{"circuit-breaker"}},
		{source: "DoorDash, May 2022: what works goes on when a path next to it is cut off", contract: pairs, many: true, good: twoPaths()},
		{source: "envoy 30205: retries that wait are not counted", contract: "budget: {ratio: 0.2, reserve: 3}\nclauses: {retries-transient: off}", many: true,
			bad: volley(100, 100), good: volley(100, 20), breaks: []string{"retry-budget-ratio"}, holds: []string{"retry-cap"}},
	}
}

// upTo draws a wait between 0 and most.
func upTo(most ns) func(*rand.Rand) ns {
	return func(r *rand.Rand) ns { return ns(r.Int64N(int64(most))) }
}

// dropped is n clients that lose a stream each at the same moment, fail to get a new one so often, and get it.
func dropped(n, failures int, wait func(*rand.Rand) ns) *history.Builder {
	r := rand.New(rand.NewPCG(1, 1))
	return clients(n, func(_ int, h *history.Builder) {
		at := wait(r)
		h.Cut(0, s)
		for range failures {
			h.Cut(s+at, 0)
			at += wait(r)
		}
		h.Attempt(s+at, ms, 200)
	})
}

// asked is a run in which the client is given so many calls at one pace, and then more at another.
func asked(every ns, n int, then ns, more int) *assert.Run {
	given, at := []time.Duration{}, ns(0)
	for i := range n + more {
		given = append(given, at)
		if at += every; i >= n {
			at += then - every
		}
	}
	return &assert.Run{Ended: true, Until: at, Began: epoch, Noise: calm, Given: map[string][]time.Duration{"a": given}}
}

// probed is a client with a breaker: so many failures, then probes that fail, and calls that succeed behind one that does.
func probed(failures int, every ns, probes, well int) *history.Builder {
	h := history.New()
	for i := range failures {
		h.Request("GET", "/"+strconv.Itoa(i)).Call(strconv.Itoa(i)).Attempt(ns(i)*10*ms, ms, 500)
	}
	for i := range probes {
		h.Request("GET", "/probe/"+strconv.Itoa(i)).Call("probe "+strconv.Itoa(i)).Attempt(ns(failures)*10*ms+ns(i+1)*every, ms, 500)
	}
	if well > 0 {
		for i := range well {
			h.Call("well "+strconv.Itoa(i)).Attempt(ns(failures)*10*ms+ns(probes+1)*every+ns(i)*100*ms, ms, 200)
		}
	}
	return h
}

// hung adds a probe that is never answered.
func hung(h *history.Builder) *history.Builder {
	return h.Call("probe").Attempt(700*ms, 0, 0).With(func(e *journal.Entry) { e.Open = true })
}

// twoPaths alternates calls to a path that fails, which a breaker cuts off, and to one that works.
func twoPaths() *history.Builder {
	h := history.New()
	for i := range 20 {
		if i < 10 {
			h.Request("GET", "/slow/"+strconv.Itoa(i)).Call("slow "+strconv.Itoa(i)).Attempt(ns(i)*100*ms, ms, 503)
		}
		h.Request("GET", "/ok").Call("ok "+strconv.Itoa(i)).Attempt(ns(i)*100*ms+50*ms, ms, 200)
	}
	return h
}

// volley is n calls at once, all failed, of which so many are retried.
func volley(n, retried int) *history.Builder {
	h := history.New()
	for i := range n {
		h.Request("GET", "/"+strconv.Itoa(i)).Call(strconv.Itoa(i)).Attempt(ns(i)*ms/10, ms, 503)
		if i < retried {
			h.Attempt(ns(i)*ms/10+81*ms+ns(i*7%40)*ms, ms, 200)
		}
	}
	return h
}
