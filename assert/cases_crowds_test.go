package assert_test

import (
	"math/rand/v2"
	"strconv"

	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// crowdCases are about clients that want the same thing several times: in parts, at intervals, or side by side.
func crowdCases() []publicCase {
	get := history.New
	const full = "backoff: {initial: 500ms, multiplier: 2, max: 8s, jitter: full}\n"
	const wide = full + "limits: {client-rate: 1000/1m, identical-payload: 1000/1m}"
	const often = "limits: {identical-payload: 30/1m}\n"
	return []publicCase{
		{source: "a download that breaks off six times, each time further on", many: true, contract: "attempts: {max: 4, within: unlimited}", good: rests(6, 500),
			bad: rests(6, 0), breaks: []string{"identical-payload-rate", "retry-cap"}},
		{source: "a poller that retries each poll three times", many: true, good: failing(60*s, 101*ms, 202*ms, 404*ms)},
		{source: "a poller that retries each poll twice, and polls on in time", many: true, contract: often, good: failing(10*s, 101*ms, 202*ms),
			bad: failing(10*s, repeat(10, 500*ms)...), breaks: []string{"retry-cap"}},
		{source: "a poller that retries, as agreed", many: true, contract: often + "poll: {every: 10s}", good: failing(10*s, 101*ms, 202*ms),
			bad: failing(10*s, repeat(10, 500*ms)...), breaks: []string{"retry-cap", "poll-cadence"}},
		{source: "ten workers want the same, and each tries four times at most", many: true, contract: wide, good: sideBySide(10, 3, 200), bad: sideBySide(10, 7, 503), breaks: []string{"retry-cap"}},
		{source: "thirty workers want the same, and none gets it", many: true, contract: wide, good: sideBySide(30, 3, 503)},
		{source: "a preflight of the browser before each attempt, however late", good: get().Request("OPTIONS", "/orders").Attempt(0, ms, 204).
			Request("GET", "/orders").Attempt(2*ms, ms, 429).RetryAfter("2").Request("OPTIONS", "/orders").Attempt(2004*ms, ms, 204).Request("GET", "/orders").Attempt(2006*ms, ms, 200)},
		{source: "asked for a day, other calls go on after the longest wait that is agreed", many: true, good: kept(40*s, 50*s), bad: kept(5*s, 50*s), breaks: []string{"throttle-scope"}},
		{source: "a copy is cancelled because the first failed, and then comes the retry", contract: "hedging: {after: 200ms, share: 1}",
			good: get().Attempt(0, 300*ms, 503).Left(200*ms, 101*ms).Attempt(402*ms, ms, 200)},
		{source: "the second wait is missing, though waits may be short", contract: full, breaks: []string{"min-spacing"}, bad: clients(10, func(i int, h *history.Builder) {
			h.Retries(0, 503, ns(40*i+50)*ms, ms, ns(150*i+100)*ms)
		})},
	}
}

// rests is a download that breaks off n times; each time its rest is asked for, so many bytes further on.
func rests(n, further int) *history.Builder {
	h, at, wait := history.New().Request("GET", "/film").Cut(0, s).With(opened), s, 101*ms
	for i := range n {
		at += wait
		wait = min(2*wait, s)
		h.Sent(journal.Sent{Range: "bytes=" + strconv.Itoa(500+i*further) + "-"}).Cut(at, s).With(opened)
		at += s
	}
	return h.Sent(journal.Sent{Range: "bytes=9000-"}).Attempt(at+s, s, 206)
}

// failing is a poller for whom all is well for five polls, which then retries five that fail after these waits, as far as there
// is time before the next.
func failing(every ns, waits ...ns) *history.Builder {
	h := steady(history.New().Request("GET", "/jobs/7"), 0, 5, every, 200)
	for i := range 5 {
		at, next := ns(5+i)*every, ns(6+i)*every
		h.Attempt(at, ms, 503)
		for _, w := range waits {
			if at += ms + w + w*ns(i-2)/15; at < next { // a little jitter
				h.Attempt(at, ms, 503)
			}
		}
	}
	return steady(h, 10*every, 5, every, 200)
}

// sideBySide is n workers of one client that want the same at once: each meets a 503 and retries so often, by full jitter, the last
// time for this answer.
func sideBySide(n, retries, last int) *history.Builder {
	h, chance := history.New(), rand.New(rand.NewPCG(3, 3))
	for i := range n {
		at := ns(i) * ms
		for k := range retries {
			h.Attempt(at, 60*ms, 503)
			at += 60*ms + ns(chance.Int64N(int64(500*ms<<k)))
		}
		h.Attempt(at, 60*ms, last)
	}
	return h
}

// kept is a client that one call of which is asked to wait a day, and which makes others at these times.
func kept(others ...ns) *history.Builder {
	h := history.New().Request("GET", "/search").Attempt(0, ms, 429).RetryAfter("86400")
	for i, at := range others {
		h.Request("GET", "/orders/"+strconv.Itoa(i)).Attempt(at, ms, 200)
	}
	return h
}
