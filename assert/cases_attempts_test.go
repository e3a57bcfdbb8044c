package assert_test

import (
	"strconv"
	"time"

	"github.com/retrygate/retrygate/assert/internal/history"
)

// attemptCases are about how often clients send, for one call and over all.
func attemptCases() []publicCase {
	get := history.New
	return []publicCase{
		{source: "opencode 40090: a cap on the delay, none on the count", contract: "backoff: {initial: 10ms, multiplier: 2, max: 20ms, jitter: none}",
			bad: get().Retries(0, 503, append([]time.Duration{10 * ms}, repeat(58, 20*ms)...)...), good: get().Retries(0, 503, 10*ms, 20*ms, 20*ms),
			breaks: []string{"retry-cap"}, holds: []string{"delay-cap", "min-spacing"}},
		{source: "AirQo 3985: the cap did not count 429", contract: "attempts: {max: 2}",
			bad: directed(429, "1", repeat(9, s)...), good: directed(429, "1", s), breaks: []string{"retry-cap"}, holds: []string{"retry-after-delta"}},
		{source: "openaivec 186: twelve tries around three", bad: layered(12, 3), good: get().Retries(0, 429, 100*ms, 200*ms, 400*ms),
			breaks: []string{"retry-cap", "amplification-factor"}},
		{source: "openaivec 186: one layer switched off", bad: layered(12, 1), good: get().Retries(0, 429, 100*ms, 200*ms, 400*ms), breaks: []string{"retry-cap"}},
		{source: "caura 859: two providers, two tries, three requests each", many: true, bad: providers(6, 6), good: providers(2, 2), breaks: []string{"retry-cap"}},
		{source: "azure-sdk-for-rust 4544: N+2 requests for N retries", contract: "attempts: {max: 3}",
			bad: get().Retries(0, 429, 100*ms, 200*ms, 400*ms), good: get().Retries(0, 429, 100*ms, 200*ms), breaks: []string{"retry-cap"}},
		{source: "retries of a resetting server, capped for answers only", bad: resets(9, 200*ms), good: resets(2, 100*ms), breaks: []string{"retry-cap"}},
		{source: "canvas-course-manager 249, redux-toolkit 2226: each failure fetches again", bad: get().Retries(0, 500, repeat(24, ms)...), good: get().Retries(0, 500, 100*ms, 200*ms, 400*ms),
			breaks: []string{"retry-cap", "min-spacing", "client-rate", "identical-payload-rate", "amplification-factor"}},
		{source: "devlake 1528: retries pass the client's own limiter by", contract: "limits: {client-rate: 2/1s}\nbackoff: {growth: 1, max: 2s, jitter: any}", many: true,
			bad: limited(3, 600*ms, 100*ms, 200*ms), good: limited(3, 600*ms, 1800*ms), breaks: []string{"client-rate"}, holds: []string{"retry-cap", "min-spacing"}},
		{source: "saleor-dashboard 2786: the update timer fires at once", many: true, bad: steady(get().Request("GET", "/sw.js"), 0, 21, 90*ms, 200), good: once(200),
			breaks: []string{"client-rate"}},
		{source: "katsu 67: reloads for a version that never comes", contract: "limits: {client-rate: 3/10s}", many: true,
			bad: reloads(6), good: reloads(2), breaks: []string{"client-rate"}},
		{source: "turbomcp 24: that a stream opens counts as success", contract: "attempts: {max: 6, within: 10s}",
			bad: streams(110, 18*ms), good: streams(5, 0), breaks: []string{"retry-cap", "min-spacing", "client-rate"}},
		{source: "EventSource 57: close and end both reconnect", contract: "backoff: {initial: 100ms, growth: 1, max: 1s, jitter: any}", bad: doubled(2), good: doubled(1), breaks: []string{"single-flight"}},
		{source: "Facebook, September 2010: an error is taken for a wrong value, which is fetched again", many: true, bad: refetched(30), good: get().Request("GET", "/value").Retries(0, 503, 100*ms, 200*ms, 400*ms),
			breaks: []string{"retry-cap", "client-rate"}},
		{source: "desktop-kDrive 956: a 502 counts as success of the long poll", contract: "poll: {every: 1m}", many: true,
			bad: longPolls(51, 30*ms), good: longPolls(3, 60*s), breaks: []string{"poll-cadence", "client-rate"}},
	}
}

// layered tries so often, in groups that an inner layer makes.
func layered(outer, inner int) *history.Builder {
	h, at := history.New(), time.Duration(0)
	for range outer {
		for range inner {
			h.Attempt(at, ms, 429)
			at += 100 * ms
		}
		at += 400 * ms
	}
	return h
}

// providers asks two endpoints for the same, so often each.
func providers(a, b int) *history.Builder {
	h, at := post().Key("k"), time.Duration(0)
	for i, n := range []int{a, b} {
		h.Request("POST", []string{"/a", "/b"}[i]).Key([]string{"a", "b"}[i])
		for range n {
			h.Attempt(at, ms, 429)
			at += 101 * ms
		}
	}
	return h
}

// limited makes n calls whose first sends pass a limiter, each retried after these waits.
func limited(n int, every time.Duration, waits ...time.Duration) *history.Builder {
	return eachCall(n, every, func(_ int, at time.Duration, h *history.Builder) {
		h.Cut(at, 0)
		for i, w := range waits {
			if at += w; i+1 < len(waits) {
				h.Cut(at, 0)
			}
		}
		h.Attempt(at, ms, 200)
	})
}

// reloads loads a page so often, and asks each time which version is the newest.
func reloads(n int) *history.Builder {
	h := history.New()
	for i := range n {
		h.Request("GET", "/home").Attempt(ns(i)*700*ms, ms, 200).Request("GET", "/version?"+strconv.Itoa(i)).Attempt(ns(i)*700*ms+50*ms, ms, 200)
	}
	return h
}

// streams opens a stream of events n times, which ends as soon as it has begun; wait 0 is the agreed backoff.
func streams(n int, wait time.Duration) *history.Builder {
	h, at, backoff := history.New().Request("GET", "/events"), time.Duration(0), 100*ms
	for range n {
		h.Cut(at, ms).With(opened)
		if at += ms + wait; wait == 0 {
			at += backoff
			backoff = min(2*backoff, s)
		}
	}
	return h
}

// doubled is a client whose stream is dropped three times; of each stream come so many new ones.
func doubled(times int) *history.Builder {
	h, open := history.New().Request("GET", "/events"), 1
	for i := range 3 {
		at := ns(i)*s + min(1, ns(i))*100*ms*ns(i) // a little later each time
		for range open {
			h.Cut(at, s-50*ms).With(opened)
		}
		open *= times
	}
	return h
}

// refetched is a cache that deletes what it could not read, and reads again.
func refetched(n int) *history.Builder {
	h := history.New()
	for i := range n {
		at := ns(i) * 80 * ms
		h.Request("GET", "/value").Attempt(at, ms, 503).Request("DELETE", "/cache").Attempt(at+10*ms, ms, 200)
	}
	return h
}

// longPolls asks whether there is news, is told 502, and lists what is there if it asks again at once.
func longPolls(n int, every time.Duration) *history.Builder {
	h := history.New()
	for i := range n {
		at := ns(i) * every
		h.Request("GET", "/longpoll").Attempt(at, ms, 502)
		if every < s {
			h.Request("GET", "/listing/continue").Attempt(at+5*ms, ms, 200)
		}
	}
	return h
}
