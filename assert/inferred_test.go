package assert_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// failingCalls is so many calls that end with a failure, each by a client of its own.
func failingCalls(calls, retries, status int, wait func(r *rand.Rand, k int) float64) []assert.Call {
	r := rand.New(rand.NewPCG(7, 8))
	h := history.New()
	for i := range calls {
		h.Client(string(rune('a'+i%26)) + string(rune('a'+i/26)))
		waits := make([]time.Duration, retries)
		for k := range waits {
			waits[k] = time.Duration(wait(r, k) * 1e9)
		}
		h.Retries(time.Duration(i)*37*ms, status, waits...)
	}
	entries := h.Entries()
	run := &assert.Run{Ended: true}
	for _, e := range entries {
		run.Until = max(run.Until, e.End())
	}
	return assert.Calls(entries, assert.Key{OneCall: true, Run: run})
}

// Whatever was seen becomes a contract that reads, contradicts nothing, and is kept by the calls that it came of.
func TestInferredContract(t *testing.T) {
	within := func(r *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }
	list := []float64{5, 300, 1800, 7200}
	for _, test := range []struct {
		name    string
		retries int
		status  int
		wait    func(r *rand.Rand, k int) float64
		has     []string
	}{
		{"doubling", 4, 503, func(_ *rand.Rand, k int) float64 { return math.Exp2(float64(k)) },
			[]string{"max: 5, within: unlimited", "backoff: {initial: 1s, multiplier: 2, max: 8s, jitter: none}", "503: {retry: backoff, retry-after: ignore}"}},
		{"full jitter", 5, 429, func(r *rand.Rand, k int) float64 { return within(r, 0, math.Exp2(float64(k))) }, []string{"multiplier: 2", "jitter: full"}},
		{"to a limit", 8, 503, func(r *rand.Rand, k int) float64 { return min(10, math.Exp2(float64(k))) * within(r, 0.8, 1.2) },
			[]string{"initial: 1s, multiplier: 2, max: 10s", "jitter: {proportional: 0.2"}},
		{"constant", 4, 502, func(*rand.Rand, int) float64 { return 3 }, []string{"initial: 3s, multiplier: 1, max: 3s, jitter: none"}},
		{"linear", 5, 503, func(_ *rand.Rand, k int) float64 { return float64(k + 1) }, []string{"schedule: [1s, 2s, 3s, 4s, 5s]"}},
		{"a list", 4, 503, func(_ *rand.Rand, k int) float64 { return list[k] }, []string{"schedule: [5s, 5m, 30m, 2h]"}},
		{"decorrelated", 5, 503, func() func(r *rand.Rand, k int) float64 {
			prev := 1.0
			return func(r *rand.Rand, k int) float64 {
				if k == 0 {
					prev = 1
				}
				prev = min(60, within(r, 1, 3*prev))
				return prev
			}
		}(), []string{"jitter: decorrelated"}},
		{"at once", 3, 503, func(*rand.Rand, int) float64 { return 0.001 }, []string{"min-spacing: off   # broken", "max: 4"}},
		{"two waits", 2, 503, func(_ *rand.Rand, k int) float64 { return math.Exp2(float64(k)) }, []string{"growth: 1", "# open: growth: exponential"}},
		{"no retry", 0, 400, nil, []string{"400: never", "max: 1"}},
		{"no pattern", 4, 503, func(r *rand.Rand, _ int) float64 { return math.Exp(within(r, -4, 4)) }, nil},
		{"shrinking", 4, 503, func(_ *rand.Rand, k int) float64 { return []float64{8, 3, 1, 0.5}[k] }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls := failingCalls(20, test.retries, test.status, test.wait)
			text, err := assert.InferredContract("seen", assert.Inferred(calls), calls)
			if err != nil {
				t.Fatal(err)
			}
			c, err := assert.LoadContract("seen.yaml", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if found := c.Lint(); len(found) > 0 {
				t.Errorf("lint: %v\n%s", found, text)
			}
			for _, r := range assert.Judge(c, nil, calls) {
				if r.Verdict == assert.Fail {
					t.Errorf("the calls break %s: %s\n%s", r.Clause, r.Detail, text)
				}
			}
			for _, want := range test.has {
				if !strings.Contains(string(text), want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
		})
	}
}
