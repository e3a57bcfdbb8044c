package assert_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func dur(n int) time.Duration { return time.Duration(n) }

// pool is a history whose connections 1 to n have carried a request before.
func pool(n int) *history.Builder {
	h := history.New()
	for i := range n {
		h.Conn(uint64(i+1)).Request("GET", "/before").Attempt(0, ms, 200)
	}
	return h.Request("GET", "/")
}

func TestDeadPoolIsReplayed(t *testing.T) {
	one := pool(4)
	for i := range 4 {
		one.Conn(uint64(i+1)).Cut(s+dur(i)*ms, 0)
	}
	atOnce := pool(4)
	for i := range 4 {
		atOnce.Conn(uint64(i+1)).Body(string(rune('a'+i))).Cut(s, ms)
	}
	for i := range 4 {
		atOnce.Conn(uint64(i+11)).Body(string(rune('a'+i))).Attempt(s+2*ms, ms, 200)
	}
	checkGroupings(t, assert.Key{}, []grouping{
		{"one request meets four dead connections (urllib3, net/http)", one.Conn(9).Attempt(s+5*ms, ms, 200),
			"1 match; 2 match; 3 match; 4 match; 9 match resend 5 resend 6 resend 7 resend 8"},
		{"four requests meet one each", atOnce,
			"1 match; 2 match; 3 match; 4 match; 9 match resend 5; 10 match resend 6; 11 match resend 7; 12 match resend 8"},
		{"WireMock.Net 279: the client's platform tries by itself: one call, two requests",
			history.New().Conn(1).Request("GET", "/warm").Attempt(0, ms, 200).Request("GET", "/").Cut(s, ms).Conn(2).Attempt(s+2*ms, ms, 200),
			"1 match; 3 match resend 2"},
	})
}

func TestRefusedStreamsAreReplayedOnce(t *testing.T) {
	refuse := func(e *journal.Entry) { e.Proto, e.Unprocessed = "HTTP/2.0", true }
	h := func() *history.Builder { return history.New().Request("POST", "/").Conn(1).Cut(0, ms).With(refuse) }
	checkGroupings(t, assert.Key{OneCall: true}, []grouping{
		{"once, on the same connection", h().Attempt(2*ms, ms, 200), "2 driver unprocessed 1"},
		{"GOAWAY, on another", history.New().Conn(1).Cut(0, ms).With(refuse).Conn(2).Attempt(2*ms, ms, 200), "2 driver unprocessed 1"},
		{"a loop is charged", h().Cut(2*ms, ms).With(refuse).Cut(4*ms, ms).With(refuse).Cut(6*ms, ms).With(refuse), "2,3,4 driver unprocessed 1"},
		{"later is a retry", h().Attempt(60*ms, ms, 200), "1,2 driver"},
		{"a stream that was reset otherwise", history.New().Conn(1).Cut(0, ms).With(func(e *journal.Entry) { e.Proto = "HTTP/2.0" }).Attempt(2*ms, ms, 200), "1,2 driver"},
	})
}

func TestHopRetriesAreTheProxys(t *testing.T) {
	via := journal.Sent{Proxied: true, Request: 7}
	envoy := func(hop int32, claim int32) func(*journal.Entry) {
		return func(e *journal.Entry) {
			e.Claim, e.Rare = claim, &journal.Rare{Sent: journal.Sent{Proxied: true, Request: 7, Hop: hop}}
		}
	}
	checkGroupings(t, assert.Key{}, []grouping{
		{"nginx 1.9.13 goes on to the next server", history.New().Sent(via).Attempt(0, s, 504).Attempt(s+20*ms, ms, 200), "2 match hop 1"},
		{"no proxy is seen", history.New().Sent(journal.Sent{Request: 7}).Attempt(0, s, 504).Attempt(s+20*ms, ms, 200), "1,2 match"},
		{"another request id", history.New().Sent(via).Attempt(0, s, 504).Sent(journal.Sent{Proxied: true, Request: 8}).Attempt(s+20*ms, ms, 200), "1,2 match"},
		{"no request id", history.New().Sent(journal.Sent{Proxied: true}).Attempt(0, s, 504).Attempt(s+20*ms, ms, 200), "1,2 match"},
		{"later than 50 ms", history.New().Sent(via).Attempt(0, s, 504).Attempt(s+60*ms, ms, 200), "1,2 match"},
		{"on the same connection", history.New().Conn(1).Sent(via).Attempt(0, s, 504).Attempt(s+20*ms, ms, 200), "1,2 match"},
		{"the client's own count went on", history.New().Sent(via).Attempt(0, ms, 504).With(envoy(0, 1)).Attempt(20*ms, ms, 200).With(envoy(0, 2)), "1,2 match"},
		{"another stamp is another attempt", history.New().Sent(journal.Sent{Proxied: true, Request: 7, Stamp: 1}).Attempt(0, ms, 504).
			Sent(journal.Sent{Proxied: true, Request: 7, Stamp: 2}).Attempt(20*ms, ms, 200), "1,2 match"},
		{"Envoy counts", history.New().Conn(1).Attempt(0, ms, 503).With(envoy(1, 1)).Attempt(200*ms, ms, 503).With(envoy(2, 2)).Attempt(s, ms, 200).With(envoy(3, 3)),
			"3 match hop 1 hop 2"},
		{"Envoy counts, and so does the client", history.New().Attempt(0, ms, 503).With(envoy(1, 1)).Attempt(200*ms, ms, 503).With(envoy(2, 1)).
			Attempt(s, ms, 503).With(envoy(1, 2)).Attempt(s+200*ms, ms, 200).With(envoy(2, 2)), "2,4 match hop 1 hop 3"},
		{"no more than three an attempt", history.New().Sent(via).Attempt(0, 0, 503).Attempt(ms, 0, 503).Attempt(2*ms, 0, 503).Attempt(3*ms, 0, 503).
			Attempt(4*ms, 0, 503).Attempt(5*ms, 0, 503), "4,6 match hop 1 hop 2 hop 3 hop 5"},
	})
}

// nginx before 1.9.13: the client made one request; where the proxy repeats a write, the proxy breaks the promise.
func TestHopThatRepeatsAWriteBreaks(t *testing.T) {
	via := journal.Sent{Proxied: true, Request: 7}
	for method, want := range map[string]assert.Verdict{"GET": assert.NotExercised, "POST": assert.Fail} {
		h := history.New().Request(method, "/orders").Sent(via).Attempt(0, s, 504).Attempt(s+20*ms, ms, 200)
		calls := assert.Calls(h.Entries(), assert.Key{})
		verdicts(t, calls, map[string]assert.Verdict{"idempotent-only": want})
		for _, r := range assert.Judge(assert.Strict(), nil, calls) {
			if r.Verdict == assert.Fail && (method == "GET" || r.Clause != "idempotent-only" || !strings.Contains(r.Detail, "not the client")) {
				t.Errorf("%s: %s fails: %s", method, r.Clause, r.Detail)
			}
		}
	}
	keyed := history.New().Request("POST", "/orders").Key("k").Sent(via).Attempt(0, s, 504).Attempt(s+20*ms, ms, 200)
	verdicts(t, assert.Calls(keyed.Entries(), assert.Key{}), map[string]assert.Verdict{"idempotent-only": assert.NotExercised})
}

// logstash-output-elasticsearch issue 736: one call goes round several hosts; joined, the waits double.
func TestCallsJoinHosts(t *testing.T) {
	h := history.New()
	at := time.Duration(0)
	for i, wait := range []time.Duration{0, 2041 * ms, 4013 * ms, 8012 * ms, 16029 * ms, 32030 * ms} {
		at += wait
		h.Conn(uint64([]int{1, 2, 1, 2, 3, 1}[i])).Attempt(at, 0, 400)
	}
	calls := assert.Calls(h.Entries(), assert.Key{OneCall: true})
	if len(calls) != 1 || len(calls[0].Attempts) != 6 || calls[0].Gap(4) != 32030*ms {
		t.Errorf("got %s", outline(calls))
	}
	verdicts(t, calls, map[string]assert.Verdict{"no-retry-4xx": assert.Fail, "min-spacing": assert.Pass})
}

// caura pull request 859: two layers of retries and an SDK below: what reaches the server counts, under whatever path.
func TestLayersAreCountedWhereTheyArrive(t *testing.T) {
	h := history.New()
	for i := range 12 {
		h.Request("POST", []string{"/a", "/b"}[i/6]).Key([]string{"a", "b"}[i/6]).Attempt(dur(i)*s, ms, 429)
	}
	calls := assert.Calls(h.Entries(), assert.Key{})
	if got := outline(calls); got != "1,2,3,4,5,6 key; 7,8,9,10,11,12 key" {
		t.Errorf("got %s", got)
	}
	verdicts(t, calls, map[string]assert.Verdict{"retry-cap": assert.Fail})
}

// A loop behind a proxy that looks like the proxy's own is charged all the same.
func TestNoStormHidesBehindAProxy(t *testing.T) {
	h := history.New().Sent(journal.Sent{Proxied: true, Request: 7})
	for i := range 100 {
		h.Attempt(dur(i)*20*ms, ms, 503)
	}
	verdicts(t, assert.Calls(h.Entries(), assert.Key{OneCall: true}), map[string]assert.Verdict{
		"retry-cap": assert.Fail, "client-rate": assert.Fail,
	})
}
