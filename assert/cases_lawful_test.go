package assert_test

import (
	"strconv"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// lawfulCases look like breaches and are none.
func lawfulCases() []publicCase {
	get := history.New
	const full = "backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: full}"
	return []publicCase{
		{source: "full jitter: the second wait is the shorter", contract: full, good: get().Retries(0, 503, 95*ms, 12*ms, 380*ms)},
		{source: "full jitter: the first wait is close to zero", contract: full, good: get().Retries(0, 503, 40*time100, 150*ms, 20*ms)},
		{source: "decorrelated jitter: a long wait, then a short one", contract: "backoff: {initial: 100ms, max: 1s, jitter: decorrelated}",
			good: get().Retries(0, 503, 290*ms, 800*ms, 110*ms)},
		{source: "the first retry may come at once", contract: "clauses: {min-spacing: {first-free: true}, jitter-range: off}\nbackoff: {growth: 1.3, max: 10s, jitter: any}",
			bad: get().Retries(0, 503, 0, 0, 0), good: get().Retries(0, 503, 0, 200*ms, 400*ms), breaks: []string{"min-spacing"}},
		{source: "waits stay at their cap", contract: "attempts: {max: 12, within: 60s}\nbackoff: {initial: 500ms, multiplier: 2, max: 1s, jitter: {proportional: 0.2}}",
			good: get().Retries(0, 503, 480*ms, 1020*ms, 900*ms, 1150*ms, 850*ms, 990*ms, 1010*ms, 1040*ms)},
		{source: "a client that is late", good: get().Retries(0, 503, 190*ms, 250*ms, 700*ms)},
		{source: "gives up on a long Retry-After", good: get().Attempt(0, ms, 503).RetryAfter("3600")},
		{source: "gives up on a date a day off", good: get().Attempt(0, ms, 503).RetryAfter(epoch.AddDate(0, 0, 1).Format(imf))},
		{source: "a date that has passed, and the client's own backoff", good: get().Attempt(0, ms, 503).RetryAfter(epoch.AddDate(0, 0, -1).Format(imf)).Attempt(101*ms, ms, 200)},
		{source: "waits what is asked and a part more", good: get().Attempt(0, ms, 429).RetryAfter("2").Attempt(2*s+400*ms, ms, 200)},
		{source: "Retry-After, and then the client's own backoff from its start", good: get().Attempt(0, ms, 429).RetryAfter("2").Attempt(2001*ms, ms, 503).Attempt(2102*ms, ms, 200)},
		{source: "413: split in two", good: get().Request("POST", "/batch").Body(long(1000)).Attempt(0, ms, 413).
			Body(long(500)+"a").Attempt(5*ms, ms, 200).Body(long(500)+"b").Attempt(10*ms, ms, 200)},
		{source: "413: split in two, among other calls", many: true, good: get().Request("POST", "/batch").Body(long(1000)).Attempt(0, ms, 413).
			Body(long(500)+"a").Attempt(5*ms, ms, 200).Body(long(500)+"b").Attempt(10*ms, ms, 200)},
		{source: "a poller", contract: "poll: {every: 5s}", many: true, good: steady(get().Request("GET", "/jobs/7"), 0, 40, 5*s, 200)},
		{source: "a poller that is told 503 for a while", contract: "poll: {every: 5s}", many: true,
			good: steady(steady(steady(get().Request("GET", "/jobs/7"), 0, 20, 5*s, 200), 100*s, 20, 5*s, 503), 200*s, 20, 5*s, 200)},
		{source: "a poller that nobody agreed on, told 503 for a while", many: true,
			good: steady(steady(steady(get().Request("GET", "/jobs/7"), 0, 20, 5*s, 200), 100*s, 20, 5*s, 503), 200*s, 20, 5*s, 200)},
		{source: "a poller that asks faster when it fails", many: true, breaks: []string{"identical-payload-rate"},
			bad: steady(steady(get().Request("GET", "/jobs/7"), 0, 20, 5*s, 200), 100*s, 20, 2*s, 503)},
		{source: "202 until the job is done", many: true, good: steady(get().Request("GET", "/jobs/7"), 0, 10, s, 202).Attempt(10*s, ms, 200)},
		{source: "a heartbeat, always the same", many: true, contract: "clauses: {client-rate: off}", good: steady(post(), 0, 60, s, 204)},
		{source: "four dead connections of a pool, replayed at once", contract: "attempts: {max: 1}", many: true, good: deadPool()},
		{source: "one request meets four dead connections", contract: "attempts: {max: 1}", many: true, good: oneMeetsFour()},
		{source: "425: once more, at once", good: get().Attempt(0, ms, 425).Attempt(5*ms, ms, 200)},
		{source: "421: once more, on another connection", good: get().Attempt(0, ms, 421).Attempt(5*ms, ms, 200)},
		{source: "408: once more, at once", good: get().Attempt(0, ms, 408).Attempt(5*ms, ms, 200)},
		{source: "401: once more, with another token", good: get().Auth(1).Attempt(0, ms, 401).Auth(2).Attempt(5*ms, ms, 200)},
		{source: "409: the same key is still in progress", good: keyed().Cut(0, ms).Attempt(101*ms, ms, 409).Attempt(302*ms, ms, 201)},
		{source: "412: read anew, changed, sent again", many: true, good: put().Attempt(0, ms, 412).Request("GET", "/x").Body("").Attempt(10*ms, ms, 200).
			Request("PUT", "/x").Body("c").Attempt(20*ms, ms, 200)},
		{source: "a download goes on where it broke off", good: get().Cut(0, s).With(opened).Sent(journal.Sent{Range: "bytes=500-"}).Attempt(s+101*ms, ms, 206)},
		{source: "307: the same POST, elsewhere", good: post().Attempt(0, ms, 307).Location("/new").Request("POST", "/new").Attempt(2*ms, ms, 201)},
		{source: "303: and then a GET", good: post().Attempt(0, ms, 303).Location("/orders/1").Request("GET", "/orders/1").Body("").Attempt(2*ms, ms, 200)},
		{source: "two calls alike, each retried in its time", many: true, good: get().Attempt(0, 10*ms, 503).Attempt(5*ms, 10*ms, 503).Attempt(111*ms, ms, 200).Attempt(116*ms, ms, 200)},
		{source: "twenty different things at once, all refused", many: true, contract: "limits: {client-rate: 100/10s}", good: different(20, 404)},
		{source: "thirty users behind one address, all refused alike", many: true, contract: "limits: {client-rate: 100/10s}", good: users(30, 400)},
		{source: "twice the same in a day", many: true, good: put().Attempt(0, ms, 400).Attempt(6*60*60*s, ms, 400)},
		{source: "cancelled in the middle of an attempt", run: &assert.Run{Ended: true, Began: epoch, Noise: calm, Cancelled: 500 * ms}, good: get().Attempt(0, ms, 503).Left(101*ms, 400*ms)},
		{source: "cancelled while the retry was on its way", run: &assert.Run{Ended: true, Began: epoch, Noise: calm, Cancelled: 100 * ms},
			good: get().Attempt(0, ms, 503).Attempt(101*ms, ms, 200)},
		{source: "a hedge, as agreed", contract: "hedging: {after: 200ms, share: 1}", good: get().Left(0, 260*ms).Attempt(250*ms, 5*ms, 200)},
		{source: "sends nothing after 503 for a write without a key", good: post().Attempt(0, ms, 500)},
		{source: "a write is repeated that was not accepted", good: post().Attempt(0, ms, 429).Attempt(101*ms, ms, 201)},
		{source: "a hedge is no retry", contract: "hedging: {after: 200ms, share: 1}\nattempts: {max: 1}", good: get().Left(0, 260*ms).Attempt(250*ms, 5*ms, 200)},
		{source: "a date carries no parts of a second", good: get().Attempt(900*ms, 0, 429).RetryAfter(epoch.Add(3*s).Format(imf)).Attempt(3*s, ms, 200)},
		{source: "a date that is reached by an own wait and a moment", good: get().Attempt(900*ms, 0, 429).RetryAfter(epoch.Add(3*s).Format(imf)).Attempt(3100*ms, ms, 200)},
		{source: "credentials only when asked for them", good: get().Attempt(0, ms, 401).Auth(1).Attempt(5*ms, ms, 200)},
		{source: "407: the proxy asks too", good: get().Attempt(0, ms, 407).Auth(1).Attempt(5*ms, ms, 401).Auth(2).Attempt(10*ms, ms, 200)},
		{source: "a new token, and then a 503 and its retry", many: true, good: get().Request("GET", "/api").Auth(1).Attempt(0, ms, 401).
			Request("POST", "/token").Auth(0).Attempt(10*ms, ms, 200).Request("GET", "/api").Auth(2).Attempt(20*ms, ms, 503).Attempt(121*ms, ms, 200)},
		{source: "a new token twice in a day", many: true, good: get().Request("GET", "/api").Auth(1).Attempt(0, ms, 401).Auth(2).Attempt(20*ms, ms, 200).
			Attempt(3600*s, ms, 401).Auth(3).Attempt(3600*s+20*ms, ms, 200)},
		{source: "a job that is asked for until it is done", many: true,
			good: steady(post().Attempt(0, ms, 202).Request("GET", "/jobs/7").Body(""), s, 10, s, 200)},
		{source: "a long poll that ends without news", many: true, contract: "attempts: {within: 2m}", good: get().Attempt(0, 55*s, 204).Attempt(55*s+5*ms, 55*s, 204)},
		{source: "the same order twice, under two keys", many: true, good: post().Key("a").Attempt(0, ms, 201).Key("b").Attempt(s, ms, 201)},
		{source: "a queue that comes back to a failed item later", many: true, good: keyed().Attempt(0, ms, 503).Attempt(101*ms, ms, 503).Key("other").Body("two bicycles").Attempt(200*ms, ms, 201).
			Key("k").Body("one bicycle").Attempt(302*ms, ms, 201)},
		{source: "two layers within one cap", good: get().Attempt(0, ms, 503).Attempt(101*ms, ms, 503).Attempt(302*ms, ms, 503).Attempt(703*ms, ms, 503)},
		{source: "the answer is whole and the connection closes", good: get().Attempt(0, ms, 200)},
		{source: "a client leaves a stream that goes well", many: true, good: get().Attempt(0, 0, 200).With(func(e *journal.Entry) { e.Took, e.Gone = 5*s, 5*s })},
		{source: "a cut answer to a write without a key", good: post().Cut(0, ms).With(opened)},
		{source: "a breaker that waits longer each time", contract: "breaker: {failures: 10, open: 500ms, probes: 1}\nattempts: {max: 1}", many: true, run: asked(10*ms, 100, 100*ms, 50),
			good: probed(10, 600*ms, 2, 0)},
		{source: "a breaker, and a server that asks for a minute", contract: "breaker: {failures: 10, open: 500ms, probes: 1}\nattempts: {max: 1}", many: true, run: asked(10*ms, 100, 100*ms, 300),
			good: probed(10, 600*ms, 1, 0).RetryAfter("60")},
		{source: "a breaker, and nothing more to do", contract: "breaker: {failures: 10, open: 500ms, probes: 1}\nattempts: {max: 1}", many: true, run: asked(10*ms, 10, 0, 0),
			good: probed(10, 600*ms, 1, 0)},
		{source: "a redirect to log in, and back", good: get().Attempt(0, ms, 302).Location("/login").Request("GET", "/login").Attempt(2*ms, ms, 302).Location("/").Request("GET", "/").Attempt(4*ms, ms, 200)},
	}
}

const time100 = ms / 10

func long(n int) string { return string(make([]byte, n)) }

// deadPool is four requests at once over connections that the server has closed meanwhile.
func deadPool() *history.Builder {
	h := pool(4)
	for i := range 4 {
		h.Conn(uint64(i+1)).Request("GET", "/"+strconv.Itoa(i)).Cut(s, 0)
	}
	for i := range 4 {
		h.Conn(uint64(i+11)).Request("GET", "/"+strconv.Itoa(i)).Attempt(s+ms, ms, 200)
	}
	return h
}

// oneMeetsFour is one request that meets one dead connection after the other.
func oneMeetsFour() *history.Builder {
	h := pool(4)
	for i := range 4 {
		h.Conn(uint64(i+1)).Cut(s+ns(i)*ms, 0)
	}
	return h.Conn(9).Attempt(s+5*ms, ms, 200)
}

func different(n, status int) *history.Builder {
	h := history.New()
	for i := range n {
		h.Request("GET", "/orders/"+strconv.Itoa(i)).Attempt(ns(i)*ms, ms, status)
	}
	return h
}

func users(n, status int) *history.Builder {
	h := post()
	for i := range n {
		h.Auth(uint64(i+1)).Client("user "+strconv.Itoa(i)).Attempt(ns(i)*10*ms, ms, status)
	}
	return h
}
