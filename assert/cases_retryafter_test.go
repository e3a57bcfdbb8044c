package assert_test

import (
	"strconv"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// retryAfterCases are about waits that servers ask for.
func retryAfterCases() []publicCase {
	get := history.New
	date := epoch.Add(3 * s).Truncate(s).Format(imf)
	const throttled = "limits: {client-rate: 5/1s}\nclauses: {throttle-scope: off}"
	return []publicCase{
		{source: "atlas 229: a date read as nothing", bad: directed(429, date, 100*ms), good: directed(429, date, 3*s), breaks: []string{"retry-after-date"}},
		{source: "crawlee-python 1995: -5 s switches throttling off", bad: directed(429, "-5", 4*ms), good: directed(429, "-5", 100*ms),
			breaks: []string{"min-spacing", "retry-after-sanity"}},
		{source: "libs 888: 0 means now", good: get().Attempt(0, ms, 429).RetryAfter("0").Attempt(ms, ms, 200)},
		{source: "php-tmdb 158: 0 means now, or own backoff", good: get().Attempt(0, ms, 429).RetryAfter("0").Attempt(101*ms, ms, 200)},
		{source: "php-tmdb 158: 0 for ever", bad: directed(429, "0", 0, 0, 0, 0, 0), good: directed(429, "0", 0, 0, 0), breaks: []string{"retry-cap"}},
		{source: "urllib3 3743: 9999999999 is slept for", run: &assert.Run{Until: 20 * s, Working: true, Began: epoch, Noise: calm},
			bad: get().Attempt(0, ms, 429).RetryAfter("9999999999"), breaks: []string{"retry-after-sanity"}},
		{source: "urllib3 3743: 9999999999 ends the call", bad: directed(429, "9999999999", s), good: get().Attempt(0, ms, 429).RetryAfter("9999999999"),
			breaks: []string{"retry-after-delta"}},
		{source: "azure-sdk-for-net 5268: seconds taken for milliseconds", bad: directed(429, "2", 2*ms), good: directed(429, "2", 2*s), breaks: []string{"retry-after-delta"}},
		{source: "openclaw 111353: junk in retry-after-ms hides Retry-After", bad: directed(429, "2", 100*ms), good: directed(429, "2", 2*s), breaks: []string{"retry-after-delta"}},
		{source: "compound-cli 43: values over the client's own cap discarded", contract: "attempts: {max: 7, within: 10s}", bad: directed(429, "3", 400*ms, 800*ms, s),
			good: directed(429, "3", 3*s), breaks: []string{"retry-after-delta"}},
		{source: "longer than the contract's maximum: give up", bad: directed(429, "86400", s), good: get().Attempt(0, ms, 429).RetryAfter("86400"),
			breaks: []string{"retry-after-delta"}},
		{source: "kubernetes 26871: 429 told to wait, tried 17.5 ms later", bad: directed(429, "1", 17500*time.Microsecond, 17500*time.Microsecond), good: directed(429, "1", s, s),
			breaks: []string{"retry-after-delta"}},
		{source: "kubernetes 34938: retries skip the client's limiter", contract: throttled, many: true, bad: patches(20, 5*s), good: patches(5, 0),
			breaks: []string{"client-rate"}, holds: []string{"retry-after-delta"}},
		{source: "client-go 222: and come before they may", contract: throttled, many: true, bad: patches(20, 4*s), good: patches(5, 0),
			breaks: []string{"client-rate", "retry-after-delta"}},
		{source: "prometheus 8418: 429 drops the batch, as agreed", contract: "responses: {429: never}", bad: keyed().Attempt(0, ms, 429).RetryAfter("1").Attempt(s+ms, ms, 204),
			good: keyed().Attempt(0, ms, 429).RetryAfter("1"), breaks: []string{"no-retry-4xx"}},
		{source: "prometheus 8418: 429 is retried, as agreed", bad: keyed().Attempt(0, ms, 429).RetryAfter("1"),
			good: keyed().Attempt(0, ms, 429).RetryAfter("1").Attempt(s+ms, ms, 204), breaks: []string{"retries-transient"}},
		{source: "sentry-java 1926, sentry-cocoa 1671: all stored envelopes at once, on into the limit", many: true, bad: envelopes(100, 10*ms), good: envelopes(6, 110*ms),
			breaks: []string{"throttle-scope", "client-rate"}},
	}
}

// keyed is a POST under an idempotency key.
func keyed() *history.Builder { return post().Key("k") }

// patches makes n calls of 5 a second, each told to wait a second, and repeats all of them together at that time; 0: each when it may.
func patches(n int, together time.Duration) *history.Builder {
	h := history.New()
	for i := range n {
		at := ns(i) * 201 * ms
		h.Request("PATCH", "/pods").Key(strconv.Itoa(i)).Body("patch "+strconv.Itoa(i)).Attempt(at, 0, 429).RetryAfter("1")
		if at += 1005 * ms; together > 0 {
			at = together + ns(i)*5*ms
		}
		h.Attempt(at, 0, 200)
	}
	return h
}

// envelopes sends n stored items, of which the server takes five and asks then for a minute of quiet.
func envelopes(n int, every time.Duration) *history.Builder {
	h := history.New().Request("POST", "/envelope")
	for i := range n {
		h.Body("envelope " + strconv.Itoa(i))
		if i < 5 {
			h.Attempt(ns(i)*every, ms, 200)
		} else {
			h.Attempt(ns(i)*every, ms, 429).RetryAfter("60")
		}
	}
	return h
}
