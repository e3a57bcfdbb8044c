package assert_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// policy gives the wait before retry k (from 1) in seconds, prev being the one before.
type policy func(r *rand.Rand, k int, prev float64) float64

func exponential(base, factor float64) func(int) float64 {
	return func(k int) float64 { return base * math.Pow(factor, float64(k-1)) }
}

// within draws the delay times lo to hi.
func within(delay func(int) float64, lo, hi float64) policy {
	return func(r *rand.Rand, k int, _ float64) float64 { return delay(k) * (lo + (hi-lo)*r.Float64()) }
}

func plus(delay func(int) float64, add float64) policy {
	return func(r *rand.Rand, k int, _ float64) float64 { return delay(k) + add*r.Float64() }
}

func decorrelated(base, cap float64) policy {
	return func(r *rand.Rand, k int, prev float64) float64 {
		return min(cap, base+(3*max(base, prev)-base)*r.Float64())
	}
}

// late is what a busy build machine adds to every wait: measured 0.5 ms and an exponential tail, in 2 % of all cases 10 to
// 100 ms.
func late(r *rand.Rand) float64 {
	if r.Float64() < 0.02 {
		return 0.010 + 0.090*r.Float64()
	}
	return 0.0005 + 0.002*r.ExpFloat64()
}

// simulated are the calls of m clients with n retries each against a lasting 503.
func simulated(p policy, m, n int, r *rand.Rand) []assert.Call {
	run := &assert.Run{Ended: true, Noise: assert.Noise{Slices: []assert.Slice{{P50: 2 * ms, P99: 60 * ms}}}}
	calls := make([]assert.Call, m)
	for i := range calls {
		attempts := make([]journal.Entry, 1, n+1)
		attempts[0] = journal.Entry{Status: 503, Took: ms}
		prev := 0.0
		for k := 1; k <= n; k++ {
			prev = p(r, k, prev)
			at := attempts[k-1].End() + time.Duration((prev+late(r))*float64(s))
			attempts = append(attempts, journal.Entry{At: at, Status: 503, Took: ms})
		}
		calls[i] = assert.Call{Client: "a", Attempts: attempts, Run: run}
	}
	return calls
}

// samples are the smallest numbers of calls and retries at which a clause promises to decide.
var samples = []struct{ calls, retries int }{{20, 3}, {10, 4}}

func TestBrokenPoliciesAreCaught(t *testing.T) {
	constant := exponential(1, 1)
	for _, tt := range []struct {
		name           string
		policy         policy
		clause         assert.Clause
		calls, retries int
	}{
		{"constant", within(constant, 1, 1), assert.BackoffGrowth{}, 10, 3},
		{"constant", within(constant, 1, 1), assert.BackoffGrowth{}, 5, 3},
		{"constant, +-20 %", within(constant, 0.8, 1.2), assert.BackoffGrowth{}, 10, 3},
		{"constant, +-50 %", within(constant, 0.5, 1.5), assert.BackoffGrowth{}, 40, 3},
		{"constant, full jitter", within(constant, 0, 1), assert.BackoffGrowth{}, 150, 4},
		{"constant 25 ms", within(exponential(0.025, 1), 1, 1), assert.BackoffGrowth{}, 1, 50},
		{"doubling without jitter", within(exponential(1, 2), 1, 1), assert.JitterPresent{}, 10, 3},
		{"doubling 300 ms without jitter", within(exponential(0.3, 2), 1, 1), assert.JitterPresent{}, 20, 3},
		{"one retry after 1 s", within(constant, 1, 1), assert.JitterPresent{}, 20, 1},
		{"at once", within(exponential(0, 1), 1, 1), assert.MinSpacing{}, 4, 3},
		{"first retry at once", func(_ *rand.Rand, k int, _ float64) float64 { return float64(k - 1) }, assert.MinSpacing{}, 10, 3},
	} {
		t.Run(fmt.Sprintf("%s in %d calls with %d retries", tt.name, tt.calls, tt.retries), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(3, 4))
			caught, runs := 0, simulations(t)
			last := assert.Result{}
			for range runs {
				got := tt.clause.Check(simulated(tt.policy, tt.calls, tt.retries, r))
				if got.Verdict == assert.Fail {
					caught++
				} else {
					last = got
				}
			}
			if 100*caught < 99*runs {
				t.Errorf("%s caught it in %d of %d runs; once it said %s: %s", tt.clause.ID(), caught, runs, last.Verdict, last.Detail)
			}
		})
	}
}

// TestGrowthAtTheBorderNeverFails lets clients keep the least growth exactly, or stop at a maximum that no contract names.
func TestGrowthAtTheBorderNeverFails(t *testing.T) {
	border := exponential(1, 1.3)
	declared := func(j assert.Jitter) assert.BackoffGrowth {
		return assert.BackoffGrowth{Min: 1.3, Curve: assert.Delays{Initial: s, Multiplier: 1.3, Jitter: j}}
	}
	for name, tt := range map[string]struct {
		policy policy
		clause assert.BackoffGrowth
	}{
		"x1.3":                             {within(border, 1, 1), assert.BackoffGrowth{}},
		"x1.3, +-1 %":                      {within(border, 0.99, 1.01), assert.BackoffGrowth{}},
		"x1.3, +-10 %":                     {within(border, 0.9, 1.1), assert.BackoffGrowth{}},
		"x1.3, +10 %":                      {within(border, 1, 1.1), assert.BackoffGrowth{}},
		"x1.3, equal jitter":               {within(border, 0.5, 1), assert.BackoffGrowth{}},
		"x1.3, full jitter":                {within(border, 0, 1), assert.BackoffGrowth{}},
		"x1.31, +10 %":                     {within(exponential(1, 1.31), 1, 1.1), assert.BackoffGrowth{}},
		"x1.3, 100 ms added, as agreed":    {plus(border, 0.1), declared(assert.Jitter{Form: assert.JitterAdditive, Add: 100 * ms})},
		"x1.3, 1 s added, as agreed":       {plus(border, 1), declared(assert.Jitter{Form: assert.JitterAdditive, Add: s})},
		"decorrelated, 1 s to 3 s":         {decorrelated(1, 3), assert.BackoffGrowth{}},
		"decorrelated as agreed, x3":       {decorrelated(1, 60), assert.BackoffGrowth{Min: 2, Curve: assert.Delays{Initial: s, Multiplier: 3, Jitter: assert.Jitter{Form: assert.JitterDecorrelated}}}},
		"constant where no growth is due":  {within(exponential(1, 1), 0.5, 1.5), assert.BackoffGrowth{Min: 1}},
		"x2 up to 2.5 s, as agreed, +10 %": {within(func(k int) float64 { return min(2.5, exponential(2, 2)(k)) }, 1, 1.1), assert.BackoffGrowth{Min: 1.5, Curve: assert.Delays{Initial: 2 * s, Multiplier: 2, Max: 2500 * ms, Jitter: assert.Jitter{Form: assert.JitterProportional, Proportion: 0.1}}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, 6))
			for _, n := range []struct{ calls, retries int }{{5, 3}, {10, 4}, {20, 3}, {60, 5}} {
				for run := range simulations(t) {
					if got := tt.clause.Check(simulated(tt.policy, n.calls, n.retries, r)); got.Verdict == assert.Fail {
						t.Fatalf("%d calls with %d retries, run %d: %s", n.calls, n.retries, run, got.Detail)
					}
				}
			}
		})
	}
}

// TestAgreedJitterNeverFails lets clients keep the agreed jitter exactly, however narrow; what can be shown has to pass.
func TestAgreedJitterNeverFails(t *testing.T) {
	curve := exponential(1, 2)
	for name, tt := range map[string]struct {
		policy policy
		jitter assert.Jitter
		shown  bool
	}{
		"20 ms added":    {plus(curve, 0.02), assert.Jitter{Form: assert.JitterAdditive, Add: 20 * ms}, false},
		"30 ms added":    {plus(curve, 0.03), assert.Jitter{Form: assert.JitterAdditive, Add: 30 * ms}, false},
		"60 ms added":    {plus(curve, 0.06), assert.Jitter{Form: assert.JitterAdditive, Add: 60 * ms}, false},
		"400 ms added":   {plus(curve, 0.4), assert.Jitter{Form: assert.JitterAdditive, Add: 400 * ms}, true},
		"+-1 %":          {within(curve, 0.99, 1.01), assert.Jitter{Form: assert.JitterProportional, Proportion: 0.01}, false},
		"+-3 %":          {within(curve, 0.97, 1.03), assert.Jitter{Form: assert.JitterProportional, Proportion: 0.03}, false},
		"+-20 %":         {within(curve, 0.8, 1.2), assert.Jitter{Form: assert.JitterProportional, Proportion: 0.2}, true},
		"equal jitter":   {within(curve, 0.5, 1), assert.Jitter{Form: assert.JitterEqual}, true},
		"full jitter":    {within(curve, 0, 1), assert.Jitter{Form: assert.JitterFull}, true},
		"decorrelated":   {decorrelated(1, 30), assert.Jitter{Form: assert.JitterDecorrelated}, true},
		"capped at once": {decorrelated(1, 3), assert.Jitter{Form: assert.JitterDecorrelated}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, 8))
			clause := assert.JitterPresent{Curve: assert.Delays{Initial: s, Multiplier: 2, Jitter: tt.jitter}}
			for _, n := range samples {
				for run := range 5 * simulations(t) { // the chance of a fail was once 1 in 2,000
					calls := simulated(tt.policy, n.calls, n.retries, r)
					if run%2 == 1 { // a machine on which 25 ms tell
						calls[0].Run.Noise = assert.Noise{Slices: []assert.Slice{{P99: 5 * ms, Max: 10 * ms}}}
					}
					got := clause.Check(calls)
					if got.Verdict == assert.Fail || tt.shown && got.Verdict != assert.Pass {
						t.Fatalf("%d calls with %d retries, run %d: %s: %s", n.calls, n.retries, run, got.Verdict, got.Detail)
					}
				}
			}
		})
	}
}

// simulations is how many runs a policy gets.
func simulations(t *testing.T) int {
	if testing.Short() {
		return 100
	}
	return 300
}
