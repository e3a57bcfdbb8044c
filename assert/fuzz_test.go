package assert_test

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// FuzzCalls wants every history grouped and judged without a panic: each entry in one call, as an attempt or as a part of it,
// or over an unused connection; attempts in order, and at least one in each call.
func FuzzCalls(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(seed, uint64(7), uint8(200), uint8(seed))
	}
	contract := assert.Strict()
	f.Fuzz(func(t *testing.T, seed, more uint64, n, mode uint8) {
		entries := wildHistory(rand.New(rand.NewPCG(seed, more)), int(n))
		key := assert.Key{OneCall: mode&1 > 0, Hedges: int(mode >> 1 & 3)}
		if mode&8 > 0 {
			key.Horizon = time.Second
		}
		calls := assert.Calls(entries, key)
		checkKept(t, entries, calls)
		for _, r := range assert.Judge(contract, nil, calls) {
			if r.Clause == "" || r.Detail == "" {
				t.Errorf("a result without clause or detail: %+v", r)
			}
		}
	})
}

// checkKept wants every entry in one place.
func checkKept(t *testing.T, entries []journal.Entry, calls []assert.Call) {
	t.Helper()
	seen := map[uint64]int{}
	for _, c := range calls {
		if len(c.Attempts) == 0 || c.ID == "" || c.Confidence() == 0 {
			t.Fatalf("a call without attempts, id or confidence: %+v", c)
		}
		for i, e := range c.Attempts {
			seen[e.Seq]++
			if i > 0 && e.At < c.Attempts[i-1].At {
				t.Fatalf("attempts out of order: %s", seqs(c.Attempts))
			}
			if s := c.Step(i); (s == assert.StepFirst) != (i == 0) {
				t.Fatalf("attempt %d is %v", i, s)
			}
		}
		for _, p := range c.Parts {
			seen[p.Entry.Seq]++
		}
		if n := c.Tries(); n < 1 || n > len(c.Attempts) {
			t.Fatalf("%d tries in %d attempts", n, len(c.Attempts))
		}
	}
	for _, e := range entries {
		if seen[e.Seq] > 1 || seen[e.Seq] == 0 && !e.Unused() {
			t.Fatalf("entry %d is in %d places: %+v", e.Seq, seen[e.Seq], e)
		}
	}
}

// wildHistory draws from everything that grouping looks at.
func wildHistory(r *rand.Rand, n int) []journal.Entry {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	paths := []string{"/", "/a", "/b", "/%2F", "", "*"}
	statuses := []int{0, 200, 200, 206, 301, 302, 303, 307, 400, 401, 404, 407, 409, 412, 413, 429, 503}
	b := history.New()
	for range n {
		b.Client(pick("a", "a", "key:b")).Request(pick("GET", "POST", "PUT", ""), paths[r.IntN(len(paths))])
		b.Body(pick("", "1", "a longer body", "a body that is longer still")).Auth(uint64(r.IntN(3))).Conn(uint64(r.IntN(6)))
		b.Call(pick("", "", "c")).Key(pick("", "", "c", "k"))
		b.Sent(journal.Sent{
			Trace: journal.Trace{byte(r.IntN(3))}, Request: uint64(r.IntN(3)), Proxied: r.IntN(2) > 0, Hop: int32(r.IntN(3)),
			Range: pick("", "", "bytes=5-", "bytes=9-", "bytes=-", "x"),
		})
		at, took := time.Duration(r.IntN(20_000))*ms, time.Duration(r.IntN(80))*ms
		b.Attempt(at, took, statuses[r.IntN(len(statuses))]).Location(pick("", "/a", "b", "//x", "http://[", "?q", "%")).RetryAfter(pick("", "", "1", "x"))
		b.With(func(e *journal.Entry) {
			switch r.IntN(6) {
			case 0:
				e.Gone = at + took/2
			case 1:
				e.Open = true
			default:
				e.Cut = e.Status == 0 && r.IntN(4) > 0 || r.IntN(9) == 0
			}
			e.BodyWhole, e.Early, e.Claim = r.IntN(10) > 0, r.IntN(10) == 0, int32(r.IntN(3))
			e.Proto, e.Rule = pick("HTTP/1.1", "HTTP/2.0", ""), pick("", "r")
			e.Unprocessed = e.Status == 0 && r.IntN(2) > 0
		})
	}
	return b.Entries()
}

// FuzzLoadContract wants every file either refused with places or loaded into a contract that works.
func FuzzLoadContract(f *testing.F) {
	f.Add(assert.Init())
	for _, p := range assert.Profiles.All() {
		f.Add(p.Text)
	}
	for _, text := range []string{
		"", "name: x", "responses: {4xx: never, '500, 502-504': {retry: backoff, retry-after: honour}}", "responses: {-: x}",
		"attempts: {max: 99999999, within: 1ns}\nbackoff: {initial: 290y, multiplier: 1e300, jitter: decorrelated}",
		"limits: {client-rate: [1/1ns]}", "clauses: {retry-cap: {max: 1}}", "clauses: {retry-cap: off}", "{", "[]", "a: &a [*a]",
	} {
		f.Add([]byte(text))
	}
	calls := assert.Calls(history.New().Retries(0, 503, s, 2*s, 4*s).Attempt(9*s, ms, 200).Entries(), assert.Key{OneCall: true})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := assert.LoadContract("c.yaml", data)
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "c.yaml:") {
					t.Errorf("a mistake without its place: %q", line)
				}
			}
			return
		}
		c.Lint()
		if err := c.Doc(io.Discard); err != nil {
			t.Error(err)
		}
		for _, r := range assert.Judge(c, nil, calls) {
			if r.Clause == "" || r.Detail == "" {
				t.Errorf("a result without clause or detail: %+v", r)
			}
		}
	})
}
