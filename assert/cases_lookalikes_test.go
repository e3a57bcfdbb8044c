package assert_test

import (
	"strconv"
	"time"

	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// otherRequestCases are lawful because the later request is another one, though it asks for the same thing.
func otherRequestCases() []publicCase {
	get := history.New
	part := func(part string) journal.Sent { return journal.Sent{Range: part} }
	return []publicCase{
		{source: "423: another change, sent once the lock was looked at", good: put().Body("a").Attempt(0, ms, 423).Body("b").Attempt(5*s, ms, 200)},
		{source: "423: the same again", bad: put().Body("a").Attempt(0, ms, 423).Attempt(5*s, ms, 200), breaks: []string{"special-4xx"}},
		{source: "415: once more, without compression", good: post().Body(long(100)).Attempt(0, ms, 415).Body(long(300)).Attempt(5*ms, ms, 201)},
		{source: "415: the same again", bad: post().Body(long(100)).Attempt(0, ms, 415).Attempt(5*ms, ms, 201), breaks: []string{"no-retry-4xx"}},
		{source: "411: once more, with its length", good: post().Attempt(0, ms, 411).Attempt(5*ms, ms, 201)},
		{source: "411: for ever", bad: post().Attempt(0, ms, 411).Attempt(5*ms, ms, 411).Attempt(10*ms, ms, 411), breaks: []string{"no-retry-4xx"}},
		{source: "428: once more, under a condition", good: put().Attempt(0, ms, 428).With(plain).Attempt(5*ms, ms, 200).With(conditional)},
		{source: "428: the same again", bad: put().Attempt(0, ms, 428).With(plain).Attempt(5*ms, ms, 428).With(plain), breaks: []string{"no-retry-4xx"}},
		{source: "416: the whole thing, for no rest was left", good: get().Sent(part("bytes=1000-")).Attempt(0, ms, 416).Sent(journal.Sent{}).Attempt(5*ms, ms, 200)},
		{source: "416: the same part again", bad: get().Sent(part("bytes=1000-")).Attempt(0, ms, 416).Attempt(5*ms, ms, 416), breaks: []string{"no-retry-4xx"}},
		{source: "an upload in parts, each of them answered 308", many: true, good: chunks(put().Request("PUT", "/upload/7"), 0, 6)},
		{source: "an upload in parts, asked how far it came after a 503", many: true, good: chunks(chunks(put().Request("PUT", "/upload/7"), 0, 2).
			Attempt(300*ms, ms, 503).Body("").Sent(part("bytes */4000")).Attempt(401*ms, ms, 308), 500*ms, 3)},
		{source: "an upload in parts, asked how far it came, of a client that makes one call", good: chunks(chunks(put().Request("PUT", "/upload/7"), 0, 2).
			Attempt(300*ms, ms, 503).Body("").Sent(part("bytes */4000")).Attempt(401*ms, ms, 308), 500*ms, 3)},
		{source: "pages of a list, by a cursor in the body", many: true, good: cursors(0, 8, nil)},
		{source: "pages of a list, the third of which fails once", many: true, good: cursors(0, 8, map[int]int{3: 503})},
		{source: "the third page again and again", many: true, bad: cursors(0, 8, map[int]int{3: 503, 4: 503, 5: 503, 6: 503, 7: 503, 8: 503}), breaks: []string{"retry-cap"}},
		{source: "GraphQL: five queries at once, two of which are throttled", many: true, good: queries()},
		{source: "a preflight of the browser before each attempt", good: get().Request("OPTIONS", "/orders").Attempt(0, ms, 204).
			Request("GET", "/orders").Attempt(2*ms, ms, 503).Request("OPTIONS", "/orders").Attempt(104*ms, ms, 204).Request("GET", "/orders").Attempt(106*ms, ms, 200)},
		{source: "a HEAD that fails, and then the GET", good: get().Request("HEAD", "/file").Attempt(0, ms, 405).Request("GET", "/file").Attempt(2*ms, ms, 200)},
		{source: "two users of one browser ask at once, each told 503", many: true, good: get().Attempt(0, 50*ms, 503).Attempt(20*ms, 50*ms, 503).
			Attempt(152*ms, ms, 200).Attempt(172*ms, ms, 200)},
	}
}

// patienceCases are lawful because of what the client waits for, or breaches that hide behind waiting.
func patienceCases() []publicCase {
	get := history.New
	const long = "attempts: {max: 4, within: 10m}\nclauses: {attempt-timeout: {max: 2m}}"
	return []publicCase{
		{source: "a long poll that the client ends and begins anew, now and then with news", many: true, contract: long, good: longPoll(200)},
		{source: "a long poll whose gateway gives up after a minute, now and then with news", many: true, contract: long, good: longPoll(504)},
		{source: "a new token in the middle of a backoff", good: get().Request("GET", "/api").Auth(1).Attempt(0, ms, 503).
			Request("POST", "/token").Auth(0).Attempt(50*ms, ms, 200).Request("GET", "/api").Auth(2).Attempt(102*ms, ms, 503).Attempt(303*ms, ms, 200)},
		{source: "a new token in the middle of a backoff, and then a 401", good: get().Request("GET", "/api").Auth(1).Attempt(0, ms, 503).Attempt(101*ms, ms, 401).
			Request("POST", "/token").Auth(0).Attempt(110*ms, ms, 200).Request("GET", "/api").Auth(2).Attempt(120*ms, ms, 503).Attempt(321*ms, ms, 200)},
		{source: "asked again an hour after a Retry-After of an hour", many: true, good: get().Attempt(0, ms, 503).RetryAfter("3600").Attempt(3700*s, ms, 200)},
		{source: "the same refused once a minute, by someone who presses the button", many: true, good: steady(post(), 0, 5, 61*s, 422)},
		{source: "hedged twice within a minute", many: true, contract: "hedging: {after: 200ms, share: 1}\nattempts: {max: 1}",
			good: get().Left(0, 260*ms).Attempt(250*ms, 5*ms, 200).Left(3*s, 260*ms).Attempt(3*s+250*ms, 5*ms, 200)},
		{source: "a copy that comes too late to matter", contract: "hedging: {after: 200ms, share: 1}\nattempts: {max: 1}",
			good: get().Attempt(0, 300*ms, 503).Attempt(250*ms, 300*ms, 503)},
		{source: "the last wait does not fit any more, and the call ends", contract: "attempts: {max: 4, within: 1s}", good: get().Retries(0, 503, 100*ms, 200*ms, 400*ms)},
		{source: "Retry-After: 0, and then one's own backoff", good: get().Attempt(0, ms, 503).RetryAfter("0").Attempt(ms, ms, 503).Attempt(202*ms, ms, 200)},
		{source: "Retry-After on a 500 that does not bind", good: get().Attempt(0, ms, 500).RetryAfter("20").Attempt(101*ms, ms, 200)},
		{source: "retries at noon and at one, for the queue has an hour", many: true, contract: "backoff: {schedule: [1h, 2h], jitter: {proportional: 0.2}}\nattempts: {max: 3, within: unlimited}",
			good: keyed().Attempt(0, ms, 503).Attempt(3600*s, ms, 503).Attempt(10800*s, ms, 201)},
		{source: "a jitter that undercuts Retry-After by a tenth", bad: get().Attempt(0, ms, 429).RetryAfter("10").Attempt(9100*ms, ms, 200), breaks: []string{"retry-after-delta"}},
		{source: "waits as it should, but counts from the request and not from the answer", bad: get().Attempt(0, 3*s, 429).RetryAfter("5").Attempt(5*s, ms, 200), breaks: []string{"retry-after-delta"}},
		{source: "keeps each Retry-After of a second, for ever", bad: directed(429, "1", repeated(s+ms, 8)...), breaks: []string{"retry-cap"}, holds: []string{"retry-after-delta"}},
		{source: "waits grow, and then start over in the middle of a call", contract: "attempts: {max: 12, within: 60s}", breaks: []string{"min-spacing"},
			bad: get().Retries(0, 503, 100*ms, 200*ms, 400*ms, 800*ms, 10*ms, 20*ms)},
		{source: "one attempt more on a new connection when all were used up", bad: get().Retries(0, 503, 100*ms, 200*ms, 400*ms, 800*ms), breaks: []string{"retry-cap"}},
		{source: "goes on under a new path", bad: redirectedRetries(), breaks: []string{"retry-cap"}},
		{source: "a 400 between two 503", bad: get().Attempt(0, ms, 503).Attempt(101*ms, ms, 400).Attempt(302*ms, ms, 503), breaks: []string{"no-retry-4xx"}},
		{source: "a 501 after a 503", bad: get().Attempt(0, ms, 503).Attempt(101*ms, ms, 501).Attempt(302*ms, ms, 200), breaks: []string{"no-retry-permanent-5xx"}},
		{source: "a POST that timed out, sent again without a key after a good wait", bad: post().Left(0, 5*s).Attempt(5*s+101*ms, ms, 201), breaks: []string{"idempotent-only"}},
		{source: "a key that is the same for two orders", many: true, bad: post().Key("k").Body("one").Attempt(0, ms, 201).Body("two").Attempt(s, ms, 201), breaks: []string{"idempotency-key-stable"}},
		{source: "a key that comes with the second attempt only", bad: post().Attempt(0, ms, 503).RetryAfter("1").Key("k").Attempt(s+ms, ms, 201), breaks: []string{"idempotency-key-stable"}},
		{source: "an empty body at the third attempt", bad: keyed().Body("x").Attempt(0, ms, 503).Attempt(101*ms, ms, 503).Body("").Attempt(302*ms, ms, 201), breaks: []string{"body-identical"}},
		{source: "a success, and the timer that was not stopped", bad: keyed().Attempt(0, ms, 503).Attempt(101*ms, ms, 201).Attempt(900*ms, ms, 201), breaks: []string{"stop-after-success"}},
		{source: "two layers of two attempts around one of two", bad: get().Retries(0, 503, 100*ms, 200*ms, 100*ms, 400*ms, 100*ms, 200*ms, 100*ms), breaks: []string{"retry-cap"}},
		{source: "a 403 repeated with the same token, a second later", bad: get().Auth(1).Attempt(0, ms, 403).Attempt(s, ms, 403), breaks: []string{"no-retry-4xx"}},
		{source: "two 401 with two new tokens", bad: refreshing(3), breaks: []string{"auth-refresh-once"}},
		{source: "a resend on a fresh connection, at once and twice", bad: get().Cut(0, 0).Cut(ms, 0).Attempt(2*ms, ms, 200), breaks: []string{"min-spacing"}},
		{source: "a deadline that is looked at before the wait and not after it", contract: "attempts: {max: 4, within: 1s}", bad: get().Retries(0, 503, 100*ms, 200*ms, 5*s), breaks: []string{"total-deadline"}},
	}
}

func plain(e *journal.Entry)       { e.Precondition = false }
func conditional(e *journal.Entry) { e.Precondition = true }

// chunks is an upload of so many parts that look alike, a tenth of a second apart.
func chunks(h *history.Builder, at time.Duration, n int) *history.Builder {
	h.Body(long(1000))
	for i := range n {
		h.Sent(journal.Sent{Range: "bytes " + strconv.Itoa(int(at/ms)+i*1000) + "-"}).Attempt(at+ns(i)*100*ms, ms, 308)
	}
	return h
}

// cursors asks for one page after the other, with the statuses of some attempts, the page being asked for again after each.
func cursors(at time.Duration, n int, statuses map[int]int) *history.Builder {
	h, page := post().Request("POST", "/search"), 1
	wait := 100 * ms
	for i := range n {
		status := 200
		if s, ok := statuses[i]; ok {
			status = s
		}
		h.Key("page "+strconv.Itoa(page)).Body("cursor "+strconv.Itoa(page)).Attempt(at, ms, status)
		at += 10 * ms
		if status == 200 {
			page, wait = page+1, 100*ms
		} else {
			at += wait
			wait *= 2
		}
	}
	return h
}

func queries() *history.Builder {
	h := post().Request("POST", "/graphql")
	for i := range 5 {
		status := 200
		if i%2 == 1 {
			status = 429
		}
		h.Body("query "+strconv.Itoa(i)).Attempt(ns(i)*ms, ms, status)
	}
	return h.Body("query 1").Attempt(105*ms, ms, 200).Body("query 3").Attempt(110*ms, ms, 200)
}

// longPoll is a client that asks anew at once when a poll has ended without news, which is not the end of anything.
func longPoll(status int) *history.Builder {
	h, at := history.New().Request("GET", "/events"), time.Duration(0)
	for i := range 12 {
		switch {
		case i < 3 || i == 8:
			h.Attempt(at, 20*s, 200)
			at += 20*s + 2*ms
		case status == 504:
			h.Attempt(at, 60*s, 504)
			at += 60*s + 2*ms
		default:
			h.Left(at, 30*s)
			at += 30*s + 2*ms
		}
	}
	return h
}

func repeated(wait time.Duration, n int) (waits []time.Duration) {
	for range n {
		waits = append(waits, wait)
	}
	return waits
}

// redirectedRetries is a call whose retries are led to another place, where they go on.
func redirectedRetries() *history.Builder {
	return history.New().Retries(0, 503, 100*ms).Attempt(302*ms, ms, 307).Location("/b").Request("GET", "/b").
		Retries(304*ms, 503, 400*ms, 800*ms, 800*ms)
}
