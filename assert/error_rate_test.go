package assert_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

var thorough = flag.Bool("long", false, "simulate a hundred times as many runs")

// counts are the verdicts on many runs of one history on one machine.
type counts struct {
	verdicts [assert.Fail + 1]int
	runs     int
	last     string // what was said of the last fail, or for broken clients of the last one missed
}

func (c counts) of(v assert.Verdict) float64 { return float64(c.verdicts[v]) / float64(c.runs) }

// most bounds a rate from above with 95 % confidence, from k cases in n (Wilson, and exact where there is none).
func most(k, n int) float64 {
	if k == 0 {
		return 1 - math.Pow(0.05, 1/float64(n))
	}
	const z = 1.645
	p, m := float64(k)/float64(n), float64(n)
	return (p + z*z/(2*m) + z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))) / (1 + z*z/m)
}

func simulate(clause assert.Clause, of trial, m machine, runs int, seed uint64, want assert.Verdict) (c counts) {
	r := rand.New(rand.NewPCG(seed, 1))
	for c.runs = range runs {
		got := clause.Check(of(newWorld(r, m)))
		c.verdicts[got.Verdict]++
		if got.Verdict != want {
			c.last = got.Verdict.String() + ": " + got.Detail
		}
	}
	c.runs = runs
	return c
}

// TestErrorRates judges lawful and broken clients on machines that bend times. A lawful client must not fail; where two runs
// have to fail, one may, but so seldom that two hardly ever do. A broken one must fail at the sample size that the clause
// states, 99 times of 100.
func TestErrorRates(t *testing.T) {
	runs := 40
	if *thorough {
		runs *= 100
	}
	for _, row := range allChances {
		kind, err := assert.Kinds.Get(row.clause.ID())
		if err != nil {
			t.Fatal(err)
		}
		t.Run(kind.ID, func(t *testing.T) {
			t.Parallel()
			for _, m := range machines {
				fails, open, total := 0, 0, 0
				for _, name := range slices.Sorted(maps.Keys(row.lawful)) {
					c := simulate(row.clause, row.lawful[name], m, 4*runs/len(row.lawful)+runs, 1, assert.Pass)
					fails, open, total = fails+c.verdicts[assert.Fail], open+c.verdicts[assert.Inconclusive], total+c.runs
					if f := c.verdicts[assert.Fail]; f > 0 {
						t.Logf("%s, %s: %d of %d runs fail: %s", name, m.name, f, c.runs, c.last)
					}
				}
				bound, how := most(fails, total), ""
				if kind.Late {
					bound, how = bound*bound, " in two runs"
				}
				t.Logf("%-8s lawful: %d of %d fail (at most %.1e%s), %.1f %% undecided", m.name, fails, total, bound, how, 100*float64(open)/float64(total))
				if fails > 0 && (!kind.Late || fails > total/1000) {
					t.Errorf("%s: %d of %d lawful clients fail", m.name, fails, total)
				}
				for _, name := range slices.Sorted(maps.Keys(row.broken)) {
					c := simulate(row.clause, row.broken[name], m, 2*runs, 2, assert.Fail)
					t.Logf("%-8s %s: %s", m.name, name, describe(c))
					share := float64(c.runs) / 100
					allowed := share + 2*math.Sqrt(share) // what so few runs may show of a rate of 1 %
					if missed := c.runs - c.verdicts[assert.Fail]; row.bent && m.name != "busy" {
						if passed := c.verdicts[assert.Pass]; float64(passed) > allowed {
							t.Errorf("%s, %s: passes in %d of %d runs: %s", name, m.name, passed, c.runs, c.last)
						}
					} else if float64(missed) > allowed {
						t.Errorf("%s, %s: missed in %d of %d runs: %s", name, m.name, missed, c.runs, c.last)
					}
				}
			}
		})
	}
}

func describe(c counts) string {
	return fmt.Sprintf("%.1f %% fail, %.1f %% undecided, %.1f %% pass (%d)", 100*c.of(assert.Fail), 100*c.of(assert.Inconclusive),
		100*(c.of(assert.Pass)+c.of(assert.NotExercised)), c.runs)
}

// TestChanceIsShared estimates how often chance alone fails the lawful clients that come closest to a breach, on a machine that
// adds nothing: machines only make waits longer. What the clauses may err by (see alpha.go) is too seldom to be counted, so
// the runs that fail are drawn more often than chance would, and weigh less (see even).
func TestChanceIsShared(t *testing.T) {
	runs := 1500
	if *thorough {
		runs *= 100
	}
	still := machine{late: func(*rand.Rand) float64 { return 0 }}
	least, border := exponential(0.05, 1), exponential(1, 1.3)
	for _, tt := range []struct {
		clause         assert.Clause
		delay          func(int) float64
		lo             float64 // of the delay that is drawn at least
		calls, retries int
		low, slant     float64 // how far waits are tilted to small ones; and later ones more than early ones
	}{
		{assert.MinSpacing{}, least, 0, 1, 3, 60, 0},
		{assert.MinSpacing{}, least, 0, 5, 1, 16, 0},
		{assert.MinSpacing{}, least, 0, 10, 1, 6, 0},
		{assert.MinSpacing{}, least, 0, 10, 3, 2.6, 0},
		{assert.MinSpacing{}, least, 0, 20, 3, 1.8, 0},
		{assert.Special4xx{}, least, 0, 5, 3, 6, 0},
		{assert.RetryAfterSanity{}, least, 0, 5, 3, 4.5, 0},
		{assert.BackoffGrowth{}, border, 0, 5, 3, 0, 8},
		{assert.BackoffGrowth{}, border, 0, 20, 3, 0, 2.4},
		{assert.BackoffGrowth{}, border, 0, 10, 4, 0, 2.8},
		{assert.BackoffGrowth{}, border, 0.5, 20, 3, 0, 2.4},
		{assert.BackoffGrowth{}, border, 0.8, 20, 3, 0, 2.4},
		{assert.BackoffGrowth{}, exponential(0.05, 1.3), 0, 3, 3, 140, 0},
	} {
		t.Run(fmt.Sprintf("%s, %d calls with %d retries, from %v", tt.clause.ID(), tt.calls, tt.retries, tt.lo), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(9, 10))
			with := journal.Entry{Status: 503}
			switch tt.clause.ID() {
			case "special-4xx":
				with.Status = 408
			case "retry-after-sanity":
				with.RetryAfter = "soon"
			}
			fails, sum, squares := 0, 0.0, 0.0
			for range runs {
				w := newWorld(r, still)
				drawn := func(_ *rand.Rand, k int, _ float64) float64 {
					tilt := tt.low + tt.slant*(2*float64(k-1)/float64(max(1, tt.retries-1))-1)
					return tt.delay(k) * (tt.lo + (1-tt.lo)*w.even(tilt))
				}
				if tt.clause.Check(answered(with, drawn, tt.calls, tt.retries)(w)).Verdict == assert.Fail {
					fails++
					sum, squares = sum+w.weight, squares+w.weight*w.weight
				}
			}
			n := float64(runs)
			chance, off := sum/n, math.Sqrt(squares)/n
			share := assert.Alphas[tt.clause.ID()]
			t.Logf("fails once in %.0f runs: %.1e +- %.0e (%d of %d tilted runs); its share is %.1e", 1/chance, chance, off, fails, runs, share)
			if chance-2*off > share {
				t.Errorf("fails by chance in %.2e of all runs, more than its share of %.2e", chance, share)
			}
		})
	}
}

// TestEveryBendableClauseHasChances keeps the table whole.
func TestEveryBendableClauseHasChances(t *testing.T) {
	have := map[string]bool{}
	for _, row := range allChances {
		have[row.clause.ID()] = true
	}
	for _, kind := range assert.Kinds.All() {
		if _, shared := assert.Alphas[kind.ID]; (shared || kind.Late) && !have[kind.ID] {
			t.Errorf("no chances of %s: how often it is wrong is not known", kind.ID)
		}
	}
}
