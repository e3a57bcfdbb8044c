package assert_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestCallsOfConnectionsWithoutRequests(t *testing.T) {
	h := history.New
	bare := func(b *history.Builder) *history.Builder { return b.Request("", "") }
	get := func(b *history.Builder) *history.Builder { return b.Request("GET", "/") }
	refused := bare(h()).Cut(0, ms).Cut(s, ms)
	for _, test := range []struct {
		name    string
		history *history.Builder
		key     assert.Key
		want    string
	}{
		{"they are the client's only call", get(refused).Attempt(3*s, ms, 200), assert.Key{OneCall: true}, "1,2,3 driver"},
		{"in between too", bare(h().Attempt(0, ms, 503)).Cut(s, ms).Request("GET", "/").Attempt(3*s, ms, 200), assert.Key{OneCall: true}, "1,2,3 driver"},
		{"and at its end", bare(h().Attempt(0, ms, 503)).Cut(s, ms).Cut(3*s, ms), assert.Key{OneCall: true}, "1,2,3 driver"},
		{"each client has its own", bare(h()).Cut(0, ms).Client("b").Cut(1, ms).Client("a").Request("GET", "/").Attempt(s, ms, 200).
			Client("b").Attempt(s, ms, 200), assert.Key{OneCall: true}, "1,3 driver; 2,4 driver"},
		{"after a redirect they belong to what follows",
			bare(h().Request("GET", "/a").Attempt(0, ms, 307)).Cut(s, ms).Request("GET", "/b").Attempt(2*s, ms, 200), assert.Key{OneCall: true}, "1 driver; 2,3 driver"},
		{"after a success they prove nothing", bare(h().Attempt(0, ms, 200)).Cut(s, ms), assert.Key{OneCall: true}, "1 driver; 2 driver"},
		{"after a 400 they prove nothing", bare(h().Attempt(0, ms, 400)).Cut(s, ms), assert.Key{OneCall: true}, "1 driver; 2 driver"},
		{"without the driver's word each is a call of its own",
			get(bare(h()).Cut(0, ms).Cut(s, ms)).Attempt(3*s, ms, 200), assert.Key{}, "1 connection; 2 connection; 3 match"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := outline(assert.Calls(test.history.Entries(), test.key)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Connections without requests prove attempts where the driver says whose they are; elsewhere they only keep claims from
// being made.
func TestClausesOnConnectionsWithoutRequests(t *testing.T) {
	bare := func(n int) *history.Builder {
		b := history.New().Request("", "")
		for i := range n {
			b.Cut(s*[]time.Duration{0, 1, 3, 7, 15, 31}[i], ms)
		}
		return b
	}
	between := func(post string) *history.Builder { // a write met a failure, then a bare connection, then came again
		return history.New().Request(post, "/").Cut(0, ms).Request("", "").Cut(s, ms).Request(post, "/").Attempt(3*s, ms, 200)
	}
	one := assert.Key{OneCall: true, Run: &assert.Run{Until: 60 * s, Ended: true}}
	many := assert.Key{Run: &assert.Run{Until: 600 * s, Ended: true}}
	for _, test := range []struct {
		name    string
		clause  assert.Clause
		history *history.Builder
		key     assert.Key
		want    assert.Verdict
	}{
		{"four refused attempts are four", assert.RetryCap{Max: 3}, bare(4), one, assert.Fail},
		{"three are three", assert.RetryCap{Max: 3}, bare(3), one, assert.Pass},
		{"of many calls nobody knows", assert.RetryCap{Max: 3}, bare(4), many, assert.NotExercised},
		{"a refused attempt is to be tried again", assert.RetriesTransient{}, bare(1), one, assert.Fail},
		{"as it was", assert.RetriesTransient{}, bare(2), one, assert.Pass},
		{"of many calls nobody knows whether", assert.RetriesTransient{}, bare(1), many, assert.NotExercised},
		{"the retry of a 503 may have been refused", assert.RetriesTransient{},
			history.New().Attempt(0, ms, 503).Request("", "").Cut(s, ms), many, assert.Inconclusive},
		{"an attempt in between may have been refused", assert.DelayCap{Max: 2 * s}, between("GET"), many, assert.NotExercised},
		{"the driver knows", assert.DelayCap{Max: 2 * s}, between("GET"), one, assert.Pass},
		{"a refused write was not carried out", assert.IdempotentOnly{},
			history.New().Request("", "").Cut(0, ms).Request("POST", "/").Attempt(s, ms, 200), one, assert.NotExercised},
		{"one that was cut off before may have been", assert.IdempotentOnly{}, between("POST"), one, assert.Fail},
		{"nor sent again before a request is read", assert.IdempotentOnly{},
			history.New().Request("POST", "/").Cut(0, ms).Request("", "").Cut(s, ms), one, assert.Pass},
		{"keys are compared over them", assert.IdempotencyKeyStable{},
			history.New().Request("POST", "/").Key("k").Cut(0, ms).Key("").Request("", "").Cut(s, ms).Request("POST", "/").Key("k").Attempt(3*s, ms, 200),
			one, assert.Pass},
		{"no payload is known", assert.IdenticalPayloadRate{Limit: assert.Rate{N: 1, Per: 60 * s}}, bare(6), one, assert.NotExercised},
		{"they are arrivals", assert.ClientRate{Limits: []assert.Rate{{N: 5, Per: 60 * s}}}, bare(6), many, assert.Fail},
		{"a connection after a success is no attempt", assert.StopAfterSuccess{},
			history.New().Attempt(0, ms, 200).Request("", "").Cut(s, ms), one, assert.Pass},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept, err := assert.Keep(test.clause).Match(assert.Calls(test.history.Entries(), test.key))
			got := assert.Fail.String()
			switch {
			case err != nil:
				got = err.Error()
			case kept:
				got = assert.Pass.String()
			}
			if !strings.Contains(got, test.want.String()) {
				t.Errorf("%s; want %s", got, test.want)
			}
		})
	}
}
