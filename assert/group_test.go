package assert_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// outline writes calls as "seqs of attempts, with what each is if no retry; rule, ambiguous, parts, change", so that a row of a
// table can show them.
func outline(calls []assert.Call) string {
	var lines []string
	for _, c := range calls {
		line := steps(&c) + " " + c.Rule
		if c.Ambiguous {
			line += " ambiguous"
		}
		for _, p := range c.Parts {
			line += fmt.Sprintf(" %v %d", p.Kind, p.Entry.Seq)
		}
		if c.Changed != "" {
			line += " " + string(c.Changed)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

func steps(c *assert.Call) string {
	words := make([]string, len(c.Attempts))
	for i, e := range c.Attempts {
		words[i] = fmt.Sprint(e.Seq)
		if s := c.Step(i); s > assert.StepRetry {
			words[i] += "(" + s.String() + ")"
		}
	}
	return strings.Join(words, ",")
}

func seqs(entries []journal.Entry) string {
	words := make([]string, len(entries))
	for i, e := range entries {
		words[i] = fmt.Sprint(e.Seq)
	}
	return strings.Join(words, ",")
}

func TestCallsByRule(t *testing.T) {
	h := history.New
	for _, test := range []struct {
		name    string
		history *history.Builder
		key     assert.Key
		want    string
	}{
		{"nothing", h(), assert.Key{}, ""},
		{"the driver's word joins what differs in body and outcome",
			h().Body("1").Attempt(0, ms, 200).Body("2").Attempt(s, ms, 400).Body("3").Attempt(2*s, ms, 200),
			assert.Key{OneCall: true}, "1,2,3 driver"},
		{"the driver's word keeps clients, methods and paths apart",
			h().Attempt(0, ms, 503).Client("b").Attempt(1*ms, ms, 503).Request("POST", "/").Attempt(2*ms, ms, 503).
				Request("POST", "/x").Attempt(3*ms, ms, 503),
			assert.Key{OneCall: true}, "1 driver; 2 driver; 3 driver; 4 driver"},
		{"a call id joins over bodies, gaps and success",
			h().Call("c").Body("1").Attempt(0, ms, 200).Body("2").Attempt(time.Hour, ms, 200), assert.Key{}, "1,2 call-id"},
		{"one call id used by two clients is two calls",
			h().Call("c").Attempt(0, ms, 503).Client("b").Attempt(s, ms, 503), assert.Key{}, "1 call-id; 2 call-id"},
		{"an idempotency key joins", h().Key("k").Attempt(0, ms, 503).Attempt(time.Hour, ms, 200), assert.Key{}, "1,2 key"},
		{"a call id goes before an idempotency key",
			h().Call("c").Key("k").Attempt(0, ms, 503).Key("l").Attempt(s, ms, 200), assert.Key{}, "1,2 call-id"},
		{"a match joins after a failure", h().Attempt(0, ms, 503).Attempt(s, ms, 200), assert.Key{}, "1,2 match"},
		{"a success ends a call", h().Attempt(0, ms, 200).Attempt(s, ms, 200), assert.Key{}, "1 match; 2 match"},
		{"a redirect ends a call", h().Attempt(0, ms, 307).Attempt(s, ms, 200), assert.Key{}, "1 match; 2 match"},
		{"another body is another call", h().Body("1").Attempt(0, ms, 503).Body("2").Attempt(s, ms, 503), assert.Key{}, "1 match; 2 match"},
		{"a body that was cut off matches any",
			h().Body("1").Cut(0, ms).With(func(e *journal.Entry) { e.BodyWhole = false; e.BodySum = 7 }).Attempt(s, ms, 200),
			assert.Key{}, "1,2 match"},
		{"a request that comes while the other is under way is another call",
			h().Attempt(0, s, 503).Attempt(100*ms, s, 503), assert.Key{}, "1 match; 2 match"},
		{"an open exchange has not failed",
			h().Attempt(0, 0, 0).With(func(e *journal.Entry) { e.Open = true }).Attempt(s, ms, 503), assert.Key{}, "1 match; 2 match"},
		{"the first wait may be a minute", h().Attempt(0, ms, 503).Attempt(59*s, ms, 503), assert.Key{}, "1,2 match"},
		{"but not more", h().Attempt(0, ms, 503).Attempt(61*s, ms, 503), assert.Key{}, "1 match; 2 match"},
		{"after a 404 a repeat soon belongs to it", h().Attempt(0, ms, 404).Attempt(9*s, ms, 404), assert.Key{}, "1,2 match"},
		{"a slow poll of something missing does not", h().Attempt(0, ms, 404).Attempt(30*s, ms, 404).Attempt(60*s, ms, 404), assert.Key{},
			"1 match; 2 match; 3 match"},
		{"later waits go by the longest so far", h().Retries(0, 503, s, 7*s, 57*s), assert.Key{}, "1,2,3 match; 4 match"},
		{"a horizon is kept", h().Attempt(0, ms, 503).Attempt(3*s, ms, 503), assert.Key{Horizon: 2 * s}, "1 match; 2 match"},
		{"Retry-After stretches the horizon",
			h().Attempt(0, ms, 503).RetryAfter("600").Attempt(601*s, ms, 200), assert.Key{}, "1,2 match"},
		{"two calls fail: the first to fail is continued first",
			h().Attempt(0, ms, 503).Attempt(0, 2*ms, 503).Attempt(100*ms, ms, 200).Attempt(110*ms, ms, 200), assert.Key{},
			"1,3 match ambiguous; 2,4 match ambiguous"},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls := assert.Calls(test.history.Entries(), test.key)
			if got := outline(calls); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			for _, c := range calls {
				if c.Run == nil || c.ID == "" {
					t.Errorf("call without run or id: %+v", c)
				}
			}
		})
	}
}

func TestCallsTellResendsApart(t *testing.T) {
	// warm is a history whose connection 1 has carried a request before.
	warm := func() *history.Builder { return history.New().Conn(1).Attempt(0, ms, 503) }
	for _, test := range []struct {
		name    string
		history *history.Builder
		want    string
	}{
		{"reused connection dies, repeat at once on another",
			warm().Cut(s, ms).Conn(2).Attempt(s+2*ms, ms, 200), "1,3 driver resend 2"},
		{"each dead connection excuses a repeat",
			history.New().Conn(1).Attempt(0, ms, 503).Conn(2).Attempt(s, ms, 503).
				Conn(1).Cut(2*s, 0).Conn(2).Cut(2*s+ms, 0).Conn(3).Attempt(2*s+2*ms, ms, 200), "1,2,5 driver resend 3 resend 4"},
		{"a fresh connection excuses nothing", history.New().Conn(1).Cut(0, ms).Conn(2).Attempt(2*ms, ms, 200), "1,2 driver"},
		{"a client that hammers a resetting server is charged",
			warm().Cut(s, 0).Conn(2).Cut(s+ms, 0).Conn(3).Cut(s+2*ms, 0).Conn(4).Cut(s+3*ms, 0), "1,3,4,5 driver resend 2"},
		{"later than 50 ms is a retry", warm().Cut(s, 0).Conn(2).Attempt(s+51*ms, ms, 200), "1,2,3 driver"},
		{"the same connection is a retry", warm().Cut(s, 0).Attempt(s+ms, ms, 200), "1,2,3 driver"},
		{"after a status line it is a retry", warm().Attempt(s, 0, 200).With(func(e *journal.Entry) { e.Cut = true }).
			Conn(2).Attempt(s+ms, ms, 200), "1,2,3 driver"},
		{"a client that gave up retries", warm().Left(s, s).Conn(2).Attempt(2*s+ms, ms, 200), "1,2,3 driver"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := outline(assert.Calls(test.history.Entries(), assert.Key{OneCall: true})); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// On a machine that stalls a repeat may be late by that; stalls at another time excuse nothing.
func TestCallsTellLateResendsApart(t *testing.T) {
	busy := assert.Noise{Slices: []assert.Slice{{From: 0, Samples: 100}, {From: s, Max: 30 * ms, Samples: 100}, {From: 2 * s, Samples: 100}}}
	for _, test := range []struct {
		at, after time.Duration
		want      string
	}{
		{s, 50 * ms, "1,3 driver resend 2"}, {s, 110 * ms, "1,3 driver resend 2"}, {s, 111 * ms, "1,2,3 driver"}, {2 * s, 51 * ms, "1,2,3 driver"},
	} {
		h := history.New().Conn(1).Attempt(0, ms, 503).Cut(test.at, 0).Conn(2).Attempt(test.at+test.after, ms, 200)
		if got := outline(assert.Calls(h.Entries(), assert.Key{OneCall: true, Run: &assert.Run{Noise: busy}})); got != test.want {
			t.Errorf("%v after %v: got %s, want %s", test.after, test.at, got, test.want)
		}
	}
}

func TestCallsSortAndKeepTheirInput(t *testing.T) {
	entries := history.New().Retries(0, 503, s, s).Entries()
	slices.Reverse(entries)
	before := slices.Clone(entries)
	if got := outline(assert.Calls(entries, assert.Key{})); got != "1,2,3 match" {
		t.Errorf("got %s", got)
	}
	if !slices.Equal(entries, before) {
		t.Error("the entries of the caller were reordered")
	}
}

// Whatever arrives, every entry belongs to one call, and attempts stay in order.
func TestCallsKeepEveryEntry(t *testing.T) {
	for seed := range uint64(200) {
		entries := randomHistory(rand.New(rand.NewPCG(seed, 1)))
		for _, key := range []assert.Key{{}, {OneCall: true}, {Horizon: 50 * ms}} {
			seen := map[uint64]int{}
			for _, c := range assert.Calls(entries, key) {
				if !slices.IsSortedFunc(c.Attempts, func(a, b journal.Entry) int { return int(a.At - b.At) }) {
					t.Fatalf("seed %d: attempts out of order: %s", seed, seqs(c.Attempts))
				}
				if len(c.Attempts) == 0 {
					t.Fatalf("seed %d: a call without attempts", seed)
				}
				for _, e := range c.Attempts {
					seen[e.Seq]++
				}
				for _, p := range c.Parts {
					seen[p.Entry.Seq]++
				}
			}
			for _, e := range entries {
				if seen[e.Seq] != 1 {
					t.Fatalf("seed %d: entry %d is in %d calls", seed, e.Seq, seen[e.Seq])
				}
			}
		}
	}
}

func randomHistory(r *rand.Rand) []journal.Entry {
	statuses := []int{0, 200, 307, 400, 401, 429, 503}
	b := history.New()
	for range 300 {
		b.Client(fmt.Sprint(r.IntN(3))).Body(fmt.Sprint(r.IntN(2))).Conn(uint64(r.IntN(20)))
		b.Key([]string{"", "", "k"}[r.IntN(3)]).Call([]string{"", "", "c"}[r.IntN(3)])
		at, took := time.Duration(r.IntN(20_000))*ms, time.Duration(r.IntN(80))*ms
		b.Attempt(at, took, statuses[r.IntN(len(statuses))]).With(func(e *journal.Entry) {
			switch r.IntN(6) {
			case 0:
				e.Gone = at + took/2
			case 1:
				e.Open = true
			default:
				e.Cut = e.Status == 0
			}
			e.BodyWhole = r.IntN(10) > 0
		})
	}
	return b.Entries()
}

// refused is a request that net/http answered by itself; unused a connection over which nothing came.
func refused(e *journal.Entry) { e.Proto = "" }
func unused(e *journal.Entry)  { e.Method, e.Path, e.Proto, e.Status = "", "", "", 0 }

// Requests that no handler saw are attempts like others; connections without a request are none, unless they are a storm.
func TestCallsOfUnservedRequests(t *testing.T) {
	h := history.New().Attempt(0, ms, 503).Attempt(1*ms, 0, 0).With(unused)
	for i := range 9 {
		h.Attempt(s+time.Duration(i)*10*ms, 0, 431).With(refused)
	}
	calls := assert.Calls(h.Entries(), assert.Key{OneCall: true})
	if got, want := outline(calls), "1,3,4,5,6,7,8,9,10,11 driver"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for clause, want := range map[string]assert.Verdict{"retry-cap": assert.Fail, "no-retry-4xx": assert.Fail, "body-identical": assert.NotExercised} {
		if got := assert.Judge(assert.Strict(), []string{clause}, calls)[0]; got.Verdict != want {
			t.Errorf("%s: %v, want %v: %s", clause, got.Verdict, want, got.Detail)
		}
	}
}

// Pools and dialers that race leave one connection for each request at most, and a few more; a storm leaves nothing else.
func TestUnusedConnectionsAreExcused(t *testing.T) {
	for _, c := range []struct {
		requests, unused int
		want             assert.Verdict
	}{{1, 1, assert.NotExercised}, {1, 51, assert.NotExercised}, {0, 3, assert.NotExercised}, {40, 90, assert.NotExercised}, {1, 101, assert.Fail}} {
		h := history.New()
		for i := range c.requests {
			h.Request("GET", fmt.Sprint("/", i)).Attempt(time.Duration(i)*ms, ms, 200)
		}
		for i := range c.unused {
			h.Attempt(s+time.Duration(i)*ms, 0, 0).With(unused)
		}
		for _, key := range []assert.Key{{}, {OneCall: true}} {
			calls := assert.Calls(h.Entries(), key)
			for _, res := range assert.Judge(assert.Strict(), nil, calls) {
				if res.Clause == "retry-cap" && res.Verdict != c.want || res.Verdict == assert.Fail && c.want != assert.Fail {
					t.Errorf("%d requests, %d unused: %s is %v: %s", c.requests, c.unused, res.Clause, res.Verdict, res.Detail)
				}
			}
		}
	}
}
