package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func trace(n byte) journal.Sent { return journal.Sent{Trace: journal.Trace{n}} }

func TestTraceIDsLinkWhatFailed(t *testing.T) {
	h := history.New
	checkGroupings(t, assert.Key{}, []grouping{
		{"kept over the attempts", h().Sent(trace(1)).Attempt(0, ms, 503).Attempt(s, ms, 200), "1,2 trace"},
		{"never alone: one trace holds many calls", h().Sent(trace(1)).Attempt(0, ms, 503).Request("GET", "/b").Attempt(s, ms, 200), "1 match; 2 match"},
		{"nor with another body", h().Sent(trace(1)).Body("1").Attempt(0, ms, 503).Body("2").Attempt(s, ms, 200), "1 match; 2 match"},
		{"success ends a call: a poller may stay in one trace", h().Sent(trace(1)).Attempt(0, ms, 200).Attempt(s, ms, 200), "1 match; 2 match"},
		{"a poll of something missing in one trace", h().Sent(trace(1)).Attempt(0, ms, 404).Attempt(30*s, ms, 404), "1 match; 2 match"},
		{"made anew for each request, it says nothing", h().Sent(trace(1)).Attempt(0, ms, 503).Sent(trace(2)).Attempt(s, ms, 200), "1,2 match"},
		{"two calls with the same request",
			h().Sent(trace(1)).Attempt(0, 2*ms, 503).Sent(trace(2)).Attempt(ms, 2*ms, 503).Attempt(s, ms, 200).Sent(trace(1)).Attempt(s+ms, ms, 200),
			"1,4 trace; 2,3 trace"},
		{"who keeps it once begins another call with another",
			h().Sent(trace(1)).Attempt(0, ms, 503).Attempt(s, ms, 503).Sent(trace(2)).Attempt(2*s, ms, 200), "1,2 trace; 3 match"},
	})
}

func TestPollersGoOnPolling(t *testing.T) {
	polls := func(every int) *history.Builder {
		h := history.New()
		for i := range 4 {
			h.Attempt(dur(i*every)*s, ms, 200)
		}
		return h
	}
	const before = "1 match; 2 match; 3 match; 4 match; "
	tight := history.New()
	for i := range 4 {
		tight.Attempt(dur(i)*100*ms, ms, 200)
	}
	checkGroupings(t, assert.Key{}, []grouping{
		{"a failed poll is followed by the next poll", polls(5).Attempt(20*s, ms, 503).Attempt(25*s, ms, 503).Attempt(30*s, ms, 200), before + "5 match; 6 match; 7 match"},
		{"sooner than that is a retry", polls(5).Attempt(20*s, ms, 503).Attempt(22*s, ms, 200), before + "5,6 match"},
		{"a little early is on time", polls(5).Attempt(20*s, ms, 503).Attempt(24600*ms, ms, 200), before + "5 match; 6 match"},
		{"a loop without waits is no poller", tight.Attempt(400*ms, ms, 503).Attempt(500*ms, ms, 503).Attempt(600*ms, ms, 503), before + "5,6,7 match"},
		{"what nobody polls is retried", history.New().Attempt(0, ms, 200).Attempt(5*s, ms, 503).Attempt(10*s, ms, 200), "1 match; 2,3 match"},
	})
}

func TestKeysAndIDsSpanRoutes(t *testing.T) {
	h := history.New
	checkGroupings(t, assert.Key{}, []grouping{
		{"an idempotency key that the server read as id", h().Call("k").Key("k").Attempt(0, ms, 503).Attempt(s, ms, 200), "1,2 key"},
		{"on another host, by another path and connection", h().Call("c").Conn(1).Attempt(0, ms, 503).Request("GET", "/replica").Conn(2).Attempt(s, ms, 200), "1,2 call-id"},
		{"a repeat of the same key after a success is the same call", h().Call("k").Key("k").Attempt(0, ms, 200).Attempt(s, ms, 200), "1,2 key"},
		{"without a key it is another", h().Attempt(0, ms, 200).Attempt(s, ms, 200), "1 match; 2 match"},
		{"users behind one address are told apart by their credentials", h().Client("key:a").Auth(1).Attempt(0, ms, 503).Client("key:b").Auth(2).Attempt(s, ms, 503), "1 match; 2 match"},
	})
}
