package assert_test

import (
	"time"

	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// statusCases are about what clients make of statuses: 4xx, credentials, redirects and passing failures.
func statusCases() []publicCase {
	get := history.New
	return []publicCase{
		{source: "fluent-bit 8860: every 4xx retried", bad: post().Retries(0, 400, repeat(20, 100*ms)...), good: post().Attempt(0, ms, 400),
			breaks: []string{"no-retry-4xx", "retry-cap"}},
		{source: "Amplitude-Swift 126: a refused event is posted at every flush", many: true, bad: flushes(5, 5*s, 5), good: flushes(5, 5*s, 1),
			breaks: []string{"no-retry-4xx"}},
		{source: "Amplitude-Swift 126: however seldom it flushes", bad: post().Retries(0, 400, repeat(4, 30*s)...), good: post().Attempt(0, ms, 400),
			breaks: []string{"no-retry-4xx"}},
		{source: "opentelemetry-collector 14174: 'too old' stays in the queue", bad: post().Retries(0, 400, 100*ms), good: post().Attempt(0, ms, 400),
			breaks: []string{"no-retry-4xx"}, holds: []string{"retry-cap"}},
		{source: "logstash-output-elasticsearch 736: 400 to one host after the other", bad: rounds(), good: post().Attempt(0, 0, 400),
			contract: "attempts: {max: 10, within: 2m}\nbackoff: {initial: 2s, multiplier: 2, max: 64s, jitter: none}",
			breaks:   []string{"no-retry-4xx"}, holds: []string{"min-spacing", "backoff-growth"}},
		{source: "convoy 1833: 403 is delivered without end", bad: post().Retries(0, 403, repeat(6, 5*s)...), good: post().Attempt(0, ms, 403),
			breaks: []string{"no-retry-4xx", "retry-cap"}},
		{source: "convoy 1833: 403 is retried, as agreed", contract: "responses: {403: backoff}\nattempts: {max: 4, within: 20s}\nbackoff: {initial: 1s, growth: 1.2, max: 5s, jitter: none}",
			bad: post().Retries(0, 403, repeat(6, 5*s)...), good: post().Retries(0, 403, s, 2*s, 3*s), breaks: []string{"retry-cap"}, holds: []string{"no-retry-4xx"}},
		{source: "prometheus 12409: 408 dropped as a plain 4xx", bad: once(408), good: get().Attempt(0, ms, 408).Attempt(101*ms, ms, 200),
			breaks: []string{"retries-transient"}, contract: "clauses: {retries-transient: {statuses: [408, 429, 502, 503, 504]}}"},
		{source: "tus-js-client 196: 423 is retried", bad: get().Retries(0, 423, 100*ms), good: once(423), breaks: []string{"no-retry-4xx", "special-4xx"}},
		{source: "tus-js-client 196: 409 is retried", bad: get().Request("PATCH", "/files/1").Retries(0, 409, 100*ms), good: once(409),
			breaks: []string{"no-retry-4xx", "special-4xx"}},
		{source: "tus-js-client 196: both are retried, as agreed", contract: "responses: {409: backoff, 423: backoff}",
			good: get().Request("PATCH", "/files/1").Attempt(0, ms, 423).Attempt(101*ms, ms, 409).Attempt(302*ms, ms, 204)},
		{source: "architecture-center 4274: created, 500, then 409", bad: put().Attempt(0, ms, 500).Retries(101*ms, 409, 200*ms),
			good: put().Attempt(0, ms, 500).Attempt(101*ms, ms, 409), breaks: []string{"no-retry-4xx", "special-4xx"}},
		{source: "terraform-provider-vercel 509: 429 without a header is not retried", bad: once(429), good: get().Retries(0, 429, 100*ms, 200*ms),
			breaks: []string{"retries-transient"}},
		{source: "dartastic 305: 502 is not recognised", bad: once(502), good: get().Attempt(0, ms, 502).Attempt(101*ms, ms, 200), breaks: []string{"retries-transient"}},
		{source: "dartastic 305: 504 is not recognised", bad: post().Key("k").Attempt(0, ms, 504), good: post().Key("k").Attempt(0, ms, 504).Attempt(101*ms, ms, 200),
			breaks: []string{"retries-transient"}},
		{source: "openmeet 414: refreshed for ever", many: true, bad: renewing(50), good: renewing(2), breaks: []string{"auth-refresh-once", "no-retry-4xx", "client-rate"}},
		{source: "openmeet 414: and seen as one call", bad: renewing(50), good: renewing(2), breaks: []string{"auth-refresh-once", "no-retry-4xx"}},
		{source: "videoq 477, vaadin-connect 335: the refresh is refreshed", many: true, bad: signedOut(10), good: signedOut(1), breaks: []string{"auth-refresh-once"}},
		{source: "vaadin-connect 335: and seen as one call", bad: signedOut(10), good: signedOut(1), breaks: []string{"auth-refresh-once"}},
		{source: "jodd 674: no redirect limit", many: true, bad: redirected(101, "/self"), good: redirected(10, "/self"), breaks: []string{"redirect-bound"}},
		{source: "jodd 674: as far as browsers follow", contract: "limits: {client-rate: 100/10s}", bad: redirected(101, "/self"), good: redirected(21, "/self"), breaks: []string{"redirect-bound"}},
		{source: "urllib3 553: the total of one redirect was not kept", contract: "clauses: {redirect-bound: {max: 1}}", many: true,
			bad: redirected(22, "/a", "/b"), good: redirected(2, "/a", "/b"), breaks: []string{"redirect-bound"}},
	}
}

func put() *history.Builder { return history.New().Request("PUT", "/x").Body("b") }

// flushes posts a refused event at the first so many of n flushes, and a good one at the first.
func flushes(n int, every time.Duration, refused int) *history.Builder {
	h := post()
	for i := range n {
		if i < refused {
			h.Body("refused").Attempt(ns(i)*every, ms, 400)
		}
		h.Body("event "+string(rune('a'+i))).Attempt(ns(i)*every+2*ms, ms, 200)
	}
	return h
}

// rounds sends the same to three hosts in turn, at the times of the log.
func rounds() *history.Builder {
	h, at := post(), time.Duration(0)
	for i, wait := range []time.Duration{0, 2041 * ms, 4013 * ms, 8012 * ms, 16029 * ms, 32030 * ms} {
		at += wait
		h.Conn(uint64([]int{1, 2, 1, 2, 3, 1}[i])).Attempt(at, 0, 400)
	}
	return h
}

// renewing is a client that meets 401 n times; a new token, each time, is granted in between.
func renewing(n int) *history.Builder {
	h := history.New()
	for i := range n {
		at := ns(i) * 200 * ms
		h.Request("GET", "/api").Auth(uint64(i+1)).Attempt(at, ms, 401)
		if i+1 < n {
			h.Request("POST", "/token").Auth(0).Attempt(at+50*ms, ms, 200)
		}
	}
	return h
}

// signedOut is a client that meets 401, and 401 again on so many requests for a new token.
func signedOut(refreshes int) *history.Builder {
	h := history.New().Request("GET", "/api").Auth(1).Attempt(0, ms, 401).Request("POST", "/token").Auth(1)
	for i := range refreshes {
		h.Attempt(ns(i+1)*90*ms, ms, 401)
	}
	return h
}

// redirected makes n requests round a circle of redirects.
func redirected(n int, paths ...string) *history.Builder {
	h := history.New().Sent(journal.Sent{})
	for i := range n {
		h.Request("GET", paths[i%len(paths)]).Attempt(2*ms*ns(i), ms, 302).Location(paths[(i+1)%len(paths)])
	}
	return h
}
