package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// leftAt has the client leave the last exchange.
func leftAt(at time.Duration) func(*journal.Entry) {
	return func(e *journal.Entry) { e.Gone = at }
}

func TestHedgesAreToldFromTimeouts(t *testing.T) {
	// slow is an attempt that is under way until the end of the history.
	slow := func() *history.Builder { return history.New().Attempt(0, 5*s, 200) }
	storm := slow().With(leftAt(s))
	for i := range 49 {
		storm.Attempt(dur(i+1)*10*ms, 4*s, 200).With(leftAt(s))
	}
	checkGroupings(t, assert.Key{OneCall: true}, []grouping{
		{"the copy wins, the first is cancelled", slow().With(leftAt(210*ms)).Attempt(200*ms, 5*ms, 200), "1,2(hedge) driver"},
		{"the first wins, the copy is cancelled", history.New().Attempt(0, 300*ms, 200).Attempt(200*ms, 5*s, 200).With(leftAt(310 * ms)), "1,2(hedge) driver"},
		{"two copies", slow().With(leftAt(410*ms)).Attempt(200*ms, s, 200).With(leftAt(410*ms)).Attempt(400*ms, 5*ms, 200), "1,2(hedge),3(hedge) driver"},
		{"both are given up at once, and hedged again",
			slow().With(leftAt(s)).Attempt(200*ms, s, 200).With(leftAt(s)).Attempt(2*s, s, 200).With(leftAt(3*s)).Attempt(2200*ms, s, 200).With(leftAt(3 * s)),
			"1,2(hedge),3,4(hedge) driver"},
		{"a timeout that leaves its connection open", slow().Attempt(s, 5*ms, 200), "1,2 driver"},
		{"such a timeout, again and again", slow().Attempt(s, 5*s, 200).Attempt(2*s, 5*s, 200).Attempt(3*s, 5*s, 200), "1,2,3,4 driver"},
		{"a loser that is left much later", slow().With(leftAt(3*s)).Attempt(200*ms, 5*ms, 200), "1,2 driver"},
		{"an answer that forbids more ends both", slow().With(leftAt(210*ms)).Attempt(200*ms, 5*ms, 400), "1,2(hedge) driver"},
		{"a copy that broke off proves nothing", slow().With(leftAt(210*ms)).Cut(200*ms, 5*ms), "1,2 driver"},
		{"one after the other is no hedge", history.New().Left(0, s).Attempt(s+10*ms, ms, 200), "1,2 driver"},
	})
	checkGroupings(t, assert.Key{OneCall: true, Hedges: 1}, []grouping{
		{"agreed on", slow().Attempt(200*ms, 5*s, 503), "1,2(hedge) driver"},
		{"more than was agreed on", slow().Attempt(200*ms, 5*s, 503).Attempt(400*ms, 5*s, 503), "1,2(hedge),3 driver"},
	})
	calls := assert.Calls(storm.Entries(), assert.Key{OneCall: true})
	if n := calls[0].Tries(); n != 48 {
		t.Errorf("50 copies at once count as %d tries, want all but two copies", n)
	}
	verdicts(t, calls, map[string]assert.Verdict{"retry-cap": assert.Fail, "client-rate": assert.Fail})
	apart := assert.Chains(assert.Calls(slow().With(leftAt(210*ms)).Attempt(200*ms, 5*ms, 200).Attempt(s, ms, 200).Entries(), assert.Key{OneCall: true}))
	if len(apart[0]) != 2 || apart[0][1].Seq != 3 {
		t.Errorf("chains hold hedges: %s", seqs(apart[0]))
	}
}

func TestChallengesAreAnswered(t *testing.T) {
	// as names a client by its credentials, as a server does that knows no better.
	as := func(b *history.Builder, name string, auth uint64) *history.Builder { return b.Client(name).Auth(auth) }
	asked := func() *history.Builder {
		return as(history.New(), "key:a", 1).Conn(1).Request("GET", "/me").Attempt(0, ms, 401)
	}
	loop := asked()
	for i := range 40 {
		loop.Auth(uint64(i+2)).Attempt(dur(i+1)*10*ms, ms, 401)
	}
	checkGroupings(t, assert.Key{}, []grouping{
		{"other credentials, same connection", as(asked(), "key:b", 2).Attempt(s, ms, 200), "1,2(reauth) match"},
		{"none before", as(as(history.New(), "10.0.0.7", 0).Conn(1).Attempt(0, ms, 407), "key:b", 2).Attempt(s, ms, 200), "1,2(reauth) match"},
		{"the token's own request is a call",
			as(as(asked(), "10.0.0.7", 0).Conn(2).Request("POST", "/token").Attempt(10*ms, ms, 200), "key:b", 2).Conn(1).Request("GET", "/me").Attempt(s, ms, 200),
			"1,3(reauth) match; 2 match"},
		{"by the id that both carry", as(asked().With(id("c")), "key:b", 2).Conn(2).Attempt(s, ms, 200).With(id("c")), "1,2(reauth) call-id"},
		{"two users behind one address", as(asked(), "key:b", 2).Conn(2).Attempt(s, ms, 401), "1 match; 2 match"},
		{"another request on the connection", as(asked(), "key:b", 2).Request("GET", "/you").Attempt(s, ms, 200).Request("GET", "/me").Attempt(s+ms, ms, 200),
			"1 match; 2 match; 3 match"},
		{"once", as(as(asked(), "key:b", 2).Attempt(s, ms, 401), "key:b", 2).Attempt(2*s, ms, 401), "1,2(reauth) match; 3 match"},
		{"the same credentials again are a retry", asked().Attempt(s, ms, 401), "1,2 match"},
		{"under one name", history.New().Auth(1).Attempt(0, ms, 401).Auth(2).Attempt(s, ms, 200), "1,2(reauth) match"},
	})
	calls := assert.Calls(loop.Client("a").Entries(), assert.Key{})
	if len(calls) != 1 || calls[0].Tries() != 1 || calls[0].Step(40) != assert.StepReauth {
		t.Errorf("a client that refreshes for ever: %s", outline(calls))
	}
	verdicts(t, calls, map[string]assert.Verdict{"client-rate": assert.Fail})
}

// id gives the last entry a call id.
func id(call string) func(*journal.Entry) { return func(e *journal.Entry) { e.Call = call } }
