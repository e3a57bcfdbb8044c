package assert_test

import (
	"strconv"
	"time"

	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// writeCases are about requests that must not be done twice, and about what they carry.
func writeCases() []publicCase {
	get := history.New
	return []publicCase{
		{source: "cert-manager 758: went on after success", bad: post().Attempt(0, ms, 200).Retries(s, 400, s), good: post().Attempt(0, ms, 200),
			breaks: []string{"stop-after-success", "no-retry-4xx"}},
		{source: "got 786: POST sent again after the client's own timeout", bad: post().Left(0, 600*ms).Attempt(700*ms, s, 200), good: post().Left(0, 600*ms),
			breaks: []string{"idempotent-only"}},
		{source: "gocardless-pro-python 12: a key for each attempt", bad: post().Key("a").Cut(0, ms).Key("b").Attempt(101*ms, ms, 201),
			good: post().Key("a").Cut(0, ms).Attempt(101*ms, ms, 201), breaks: []string{"idempotency-key-stable"}},
		{source: "Twilio, July 2013: the charge is made again, since the balance was not written", bad: charges(5), good: charges(1), breaks: []string{"stop-after-success"}},
		{source: "runitor 181: the body is not rewound", bad: keyed().Attempt(0, ms, 503).Body("").Attempt(101*ms, ms, 400),
			good: keyed().Attempt(0, ms, 503).Attempt(101*ms, ms, 200), breaks: []string{"body-identical"}},
		{source: "runitor 181: nine bytes declared, none sent", bad: keyed().Attempt(0, ms, 503).Body("").Attempt(101*ms, s, 400).With(func(e *journal.Entry) { e.BodyWhole = false }),
			good: keyed().Attempt(0, ms, 503).Attempt(101*ms, ms, 200), breaks: []string{"body-identical"}},
		{source: "generative-ai 144: the body is gone after the first send", bad: post().Attempt(0, ms, 429), good: post().Attempt(0, ms, 429).Attempt(101*ms, ms, 200),
			breaks: []string{"retries-transient"}},
		{source: "workbox 1984: the second replay loses the item", bad: keyed().Cut(0, ms), good: keyed().Cut(0, ms).Cut(101*ms, ms).Attempt(302*ms, ms, 201),
			breaks: []string{"retries-transient"}},
		{source: "workbox 1984: the body was used up", bad: keyed().Cut(0, ms).Body("").Cut(101*ms, ms), good: keyed().Cut(0, ms).Cut(101*ms, ms).Attempt(302*ms, ms, 201),
			breaks: []string{"body-identical"}},
		{source: "seatunnel 11974: compressed once, sent three times", good: keyed().Attempt(0, ms, 503).Attempt(101*ms, ms, 503).Attempt(302*ms, ms, 204)},
		{source: "vector 2968: of a batch only what failed is sent again", many: true,
			good: post().Body("items 1 and 2").Attempt(0, ms, 200).Body("item 2").Attempt(101*ms, ms, 200)},
		{source: "nginx 1.9.13: the proxy went on to the next server", good: hop(get())},
		{source: "nginx 1.9.13: also with a POST", bad: hop(post()), breaks: []string{"idempotent-only"}, holds: []string{"min-spacing", "retry-cap", "amplification-factor"}},
		{source: "nginx 1.9.13: with a POST that may be repeated", good: hop(keyed())},
	}
}

// charges is a job of so many rounds: it charges, and then cannot write the balance.
func charges(rounds int) *history.Builder {
	h := history.New()
	for i := range rounds {
		at := ns(i) * 2 * s
		h.Request("POST", "/charge").Body("20 dollars").Attempt(at, ms, 200).Request("PUT", "/balance").Body("balance "+strconv.Itoa(i)).Attempt(at+10*ms, ms, 503)
	}
	if rounds == 1 {
		h.Retries(111*ms, 503, 200*ms, 400*ms)
	}
	return h
}

// hop is a request that a proxy sends to a second server 20 ms after the first one answered 504.
func hop(h *history.Builder) *history.Builder {
	return h.Sent(journal.Sent{Proxied: true, Request: 7}).Attempt(0, s, 504).Attempt(s+20*ms, ms, 200)
}

// cancelled is a call that hangs, whose client leaves, and comes back so often.
func cancelled(again ...time.Duration) *history.Builder {
	h := history.New().Left(0, 500*ms)
	for _, at := range again {
		h.Left(at, 400*ms)
	}
	return h
}
