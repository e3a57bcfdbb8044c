package assert_test

import (
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// connectionCases are about what transports do below the client's retry policy.
func connectionCases() []publicCase {
	get := history.New
	const never = "attempts: {max: 1}"
	warm := func() *history.Builder {
		return get().Conn(1).Request("GET", "/before").Attempt(0, ms, 200).Request("GET", "/").Cut(s, 0)
	}
	return []publicCase{
		{source: "curl 5794: refused streams are repeated without end or wait", bad: refusals(200, ms, 1), good: refusals(2, 0, 1), breaks: []string{"unprocessed-stream-retry", "retry-cap"}},
		{source: "okhttp 5785: counted for each connection", bad: refusals(40, ms, 2), good: refusals(2, 0, 2), breaks: []string{"unprocessed-stream-retry", "retry-cap"}},
		{source: "HTTP.jl 1294: not repeated at all", bad: get().Cut(0, ms).With(unprocessed), good: get().Cut(0, ms).With(unprocessed).Attempt(101*ms, ms, 200),
			breaks: []string{"unprocessed-stream-retry"}},
		{source: "HTTP.jl 1294: repeated by the transport, though it writes", good: post().Cut(0, ms).With(unprocessed).Attempt(2*ms, ms, 200)},
		{source: "golang 48438: the transport's own repeat", contract: never, many: true, good: warm().Conn(2).Attempt(s+ms/4, ms, 200)},
		{source: "golang 48438: a POST is not repeated", many: true, bad: get().Conn(1).Request("POST", "/before").Attempt(0, ms, 200).Request("POST", "/").Cut(s, 0).Conn(2).Attempt(s+101*ms, ms, 200),
			good: get().Conn(1).Request("POST", "/before").Attempt(0, ms, 200).Request("POST", "/").Cut(s, 0), breaks: []string{"idempotent-only"}},
		{source: "gatling 3609: repeated on a fresh connection", bad: get().Cut(0, 0).Attempt(4*ms, ms, 200), good: get().Cut(0, 0).Attempt(100*ms, ms, 200),
			breaks: []string{"min-spacing"}},
		{source: "gatling 3609: and without any retries agreed", contract: never, bad: get().Cut(0, 0).Attempt(4*ms, ms, 200), good: get().Cut(0, 0),
			breaks: []string{"retry-cap"}},
		{source: "valkyrie 114: repeated several times", contract: never, bad: get().Cut(0, 0).Cut(ms, 0).Attempt(2*ms, ms, 200), good: get().Cut(0, 0), breaks: []string{"retry-cap"}},
		{source: "valkyrie 114: once, on a connection that was in use", contract: never, many: true,
			bad: warm().Conn(2).Cut(s+ms, 0).Conn(3).Attempt(s+2*ms, ms, 200), good: warm().Conn(2).Attempt(s+ms, ms, 200), breaks: []string{"retry-cap"}},
	}
}

func unprocessed(e *journal.Entry) { e.Proto, e.Unprocessed = "HTTP/2.0", true }

// refusals repeats a stream that is refused n times, each connection so often; wait 0: once at once, then after the agreed waits.
func refusals(n int, wait ns, each int) *history.Builder {
	h, at, backoff := history.New(), ns(0), 100*ms
	for i := range n + 1 {
		h.Conn(uint64(1+i/each)).Cut(at, 0).With(unprocessed)
		switch at += wait; {
		case wait == 0 && i == 0:
			at += ms
		case wait == 0:
			at += backoff
			backoff *= 2
		}
	}
	return h
}
