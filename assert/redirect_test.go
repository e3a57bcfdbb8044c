package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// grouping is a row of a table: a history, and the calls in it as outline shows them.
type grouping struct {
	name    string
	history *history.Builder
	want    string
}

func checkGroupings(t *testing.T, key assert.Key, rows []grouping) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := outline(assert.Calls(row.history.Entries(), key)); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

// led begins a history with a redirect.
func led(method, path string, status int, to string) *history.Builder {
	return history.New().Request(method, path).Attempt(0, ms, status).Location(to)
}

func TestRedirectsAreFollowed(t *testing.T) {
	ask := func(query string) func(*journal.Entry) { return func(e *journal.Entry) { e.Query = query } }
	checkGroupings(t, assert.Key{}, []grouping{
		{"to another path", led("GET", "/a", 302, "/b").Request("GET", "/b").Attempt(2*ms, ms, 200), "1,2(redirect) match"},
		{"to another host", led("GET", "/a", 301, "http://other.test:81/b").Request("GET", "/b").Attempt(2*ms, ms, 200), "1,2(redirect) match"},
		{"relative, with a query", led("GET", "/x/a", 302, "b?c=d#e").Request("GET", "/x/b").Attempt(2*ms, ms, 200).With(ask("c=d")), "1,2(redirect) match"},
		{"another query is another call", led("GET", "/a", 302, "/b?c=d").Request("GET", "/b").Attempt(2*ms, ms, 200).With(ask("c=e")), "1 match; 2 match"},
		{"to the root of a host", led("GET", "/a", 302, "//other.test").Request("GET", "/").Attempt(2*ms, ms, 200), "1,2(redirect) match"},
		{"a path with escapes", led("GET", "/a%2Fb", 302, "c%20d").Request("GET", "/c%20d").Attempt(2*ms, ms, 200), "1,2(redirect) match"},
		{"303 turns a POST into a GET", led("POST", "/a", 303, "/b").Request("GET", "/b").Attempt(2*ms, ms, 200), "1,2(redirect) match"},
		{"303 leads to no POST", led("POST", "/a", 303, "/b").Request("POST", "/b").Attempt(2*ms, ms, 200), "1 match; 2 match"},
		{"302 may turn a POST into a GET", led("POST", "/a", 302, "/b").Request("GET", "/b").Attempt(2*ms, ms, 200), "1,2(redirect) match"},
		{"307 may not", led("POST", "/a", 307, "/b").Request("GET", "/b").Attempt(2*ms, ms, 200), "1 match; 2 match"},
		{"the redirect goes before a call that failed there",
			history.New().Request("GET", "/b").Attempt(0, ms, 503).Request("GET", "/a").Attempt(s, ms, 302).Location("/b").
				Request("GET", "/b").Attempt(s+2*ms, ms, 200), "1 match; 2,3(redirect) match"},
		{"another path is another call", led("GET", "/a", 302, "/b").Request("GET", "/c").Attempt(2*ms, ms, 200), "1 match; 2 match"},
		{"another client is another call", led("GET", "/a", 302, "/b").Client("b").Request("GET", "/b").Attempt(2*ms, ms, 200), "1 match; 2 match"},
		{"one redirect leads to one request", led("GET", "/a", 302, "/b").Request("GET", "/b").Attempt(2*ms, ms, 200).Attempt(4*ms, ms, 200),
			"1,2(redirect) match; 3 match"},
		{"too late to follow", led("GET", "/a", 302, "/b").Request("GET", "/b").Attempt(11*s, ms, 200), "1 match; 2 match"},
		{"told to wait before", led("GET", "/a", 302, "/b").RetryAfter("15").Request("GET", "/b").Attempt(15*s, ms, 200), "1,2(redirect) match"},
		{"an answer that broke off leads nowhere",
			led("GET", "/a", 302, "/b").With(func(e *journal.Entry) { e.Cut = true }).Request("GET", "/b").Attempt(2*ms, ms, 200), "1 match; 2 match"},
		{"no Location leads nowhere", history.New().Attempt(0, ms, 304).Attempt(2*ms, ms, 200), "1 match; 2 match"},
		{"the target fails and is retried",
			led("GET", "/a", 302, "/b").Request("GET", "/b").Attempt(2*ms, ms, 503).Attempt(s, ms, 200), "1,2(redirect),3 match"},
		{"the target fails and all begins anew",
			led("GET", "/a", 302, "/b").Request("GET", "/b").Attempt(2*ms, ms, 503).
				Request("GET", "/a").Attempt(s, ms, 302).Location("/b").Request("GET", "/b").Attempt(s+2*ms, ms, 200),
			"1,2(redirect),3,4(redirect) match"},
		{"what went on elsewhere waits nowhere",
			led("GET", "/a", 302, "/b").Request("GET", "/b").Attempt(2*ms, ms, 503).Attempt(s, ms, 200).
				Request("GET", "/a").Attempt(2*s, ms, 200), "1,2(redirect),3 match; 4 match"},
		{"two at once go to the call with the same body",
			led("POST", "/a", 307, "/b").Body("2").Attempt(ms, ms, 307).Location("/b").
				Request("POST", "/b").Attempt(3*ms, ms, 200).Body("").Attempt(4*ms, ms, 200),
			"1,4(redirect) match; 2,3(redirect) match ambiguous"},
		{"a body that got lost on the way",
			led("POST", "/a", 307, "/b").With(func(e *journal.Entry) { e.BodySum = 7 }).Request("POST", "/b").Attempt(2*ms, ms, 200), "1,2(redirect) match"},
		{"under an id that the follower does not carry", led("GET", "/a", 302, "/b").With(func(e *journal.Entry) { e.Call = "c" }).
			Request("GET", "/b").Attempt(2*ms, ms, 200), "1,2(redirect) call-id"},
	})
	checkGroupings(t, assert.Key{OneCall: true}, []grouping{
		{"the driver knows each route: what a redirect leads to is the same call",
			led("POST", "/a", 303, "/b").Request("GET", "/b").Attempt(2*ms, ms, 503).Attempt(s, ms, 503).
				Request("POST", "/a").Attempt(2*s, ms, 303).Location("/b").Request("GET", "/b").Attempt(2*s+2*ms, ms, 200),
			"1,2(redirect),3,4,5(redirect) driver"},
		{"a route that nothing led to is another", led("GET", "/a", 302, "/b").Request("GET", "/c").Attempt(2*ms, ms, 200), "1 driver; 2 driver"},
	})
}

// A loop is one call of redirects, so that redirect-bound sees all of it, and client-rate counts each.
func TestRedirectLoopsAreOneCall(t *testing.T) {
	h := history.New()
	for i := range 60 {
		h.Request("GET", []string{"/a", "/b"}[i%2]).Attempt(2*ms*dur(i), ms, 302).Location([]string{"/b", "/a"}[i%2])
	}
	for _, key := range []assert.Key{{}, {OneCall: true}} {
		calls := assert.Calls(h.Entries(), key)
		if len(calls) != 1 || len(calls[0].Attempts) != 60 || calls[0].Tries() != 1 || calls[0].Step(59) != assert.StepRedirect {
			t.Errorf("%d calls: %s", len(calls), outline(calls))
		}
		verdicts(t, calls, map[string]assert.Verdict{"client-rate": assert.Fail, "retry-cap": assert.NotExercised})
	}
}

// verdicts judges calls by the strict contract.
func verdicts(t *testing.T, calls []assert.Call, want map[string]assert.Verdict) {
	t.Helper()
	for clause, verdict := range want {
		if got := assert.Judge(assert.Strict(), []string{clause}, calls)[0]; got.Verdict != verdict {
			t.Errorf("%s: %v, want %v: %s", clause, got.Verdict, verdict, got.Detail)
		}
	}
}
