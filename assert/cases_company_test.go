package assert_test

import (
	"slices"
	"strconv"

	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// companyCases are about requests next to which others go on: copies, subscribers, polls, workers.
func companyCases() []publicCase {
	get := history.New
	const copies = "hedging: {after: 200ms, share: 1}"
	return []publicCase{
		{source: "a request is answered 404 while its copy is under way", contract: copies, good: get().Attempt(0, 300*ms, 404).Left(200*ms, 101*ms),
			bad: get().Attempt(0, 300*ms, 404).Left(200*ms, 101*ms).Attempt(s, ms, 404), breaks: []string{"no-retry-4xx"}},
		{source: "both copies are answered 404", contract: copies, good: get().Attempt(0, 300*ms, 404).Attempt(200*ms, 110*ms, 404)},
		{source: "a copy meets 401, and the token is renewed once both are answered", contract: copies,
			good: get().Auth(1).Attempt(0, 300*ms, 401).Attempt(200*ms, 110*ms, 401).Auth(2).Attempt(320*ms, ms, 200)},
		{source: "an event is delivered to eight subscribers under one id", many: true, good: delivered(8, nil)},
		{source: "an event is delivered to eight subscribers, and again to those that failed", many: true, good: delivered(8, []int{0, 3}, 101*ms, 202*ms)},
		{source: "an event is delivered to eight subscribers, and far too often to one that fails", many: true, breaks: []string{"retry-cap"},
			bad: delivered(8, []int{3}, 101*ms, 202*ms, 404*ms, 808*ms, s)},
		{source: "an order is charged, shipped and mailed under one key", many: true, good: named().Request("POST", "/charges").Attempt(0, ms, 201).
			Request("POST", "/shipments").Attempt(s, ms, 503).Attempt(s+102*ms, ms, 201).Request("POST", "/mails").Attempt(2*s, ms, 202)},
		{source: "an order is charged twice under one key", many: true, breaks: []string{"stop-after-success"},
			bad: named().Request("POST", "/charges").Attempt(0, ms, 201).Request("POST", "/shipments").Attempt(s, ms, 201).Request("POST", "/charges").Attempt(2*s, ms, 201)},
		{source: "a call goes to another endpoint when one fails, and counts on", many: true, good: secondary(2), bad: secondary(4), breaks: []string{"retry-cap"}},
	}
}

// named is a POST whose key names the call.
func named() *history.Builder { return post().Key("order 7").Call("order 7") }

// delivered sends one event to n subscribers at once; the deliveries to some of them fail as often as there are waits, and are
// made again after each.
func delivered(n int, failing []int, waits ...ns) *history.Builder {
	h := post().Sent(journal.Sent{CallBy: "Webhook-Id"}).Key("event 9").Call("event 9")
	for i := range n {
		h.Request("POST", "/hooks/"+strconv.Itoa(i))
		at := ns(i) * 3 * ms
		if slices.Contains(failing, i) {
			for _, w := range waits {
				h.Attempt(at, ms, 503)
				at += ms + w
			}
		}
		h.Attempt(at, ms, 200)
	}
	return h
}

// secondary tries so often at each of two endpoints, under one id.
func secondary(n int) *history.Builder {
	h, at, wait := post().Key("k").Call("k"), ns(0), 100*ms
	for _, path := range []string{"/v1/orders", "/v2/orders"} {
		h.Request("POST", path)
		for range n {
			h.Attempt(at, ms, 503)
			at += ms + wait
			wait *= 2
		}
	}
	return h
}
