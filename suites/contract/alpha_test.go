package contract

import (
	"slices"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
)

// TestChanceIsSharedAmongScenarios holds the scenarios to what assert's shares of chance count on: the clauses that chance can
// fail in one run stand in one scenario each. Min-spacing stands in many, so that it needs a second run (see
// assert.SureAlpha) unless chance is a hundredth of what all of them may have.
func TestChanceIsSharedAmongScenarios(t *testing.T) {
	for id, most := range map[string]int{"backoff-growth": 1, "special-4xx": 1, "hedge-bounded": 1, "min-spacing": 25} {
		n := 0
		for _, s := range scenarios.All() {
			if slices.Contains(s.Judges, id) {
				n++
			}
		}
		if n > most {
			t.Errorf("%d scenarios judge %s; %d may", n, id, most)
		}
	}
}

func TestBreachesThatChanceCanShowAreConfirmed(t *testing.T) {
	for _, tt := range []struct {
		name string
		late bool
		res  assert.Result
		want bool
	}{
		{"a fail of a two-sided clause", true, assert.Result{Verdict: assert.Fail}, true},
		{"a fail that chance hardly shows", false, assert.Result{Verdict: assert.Fail, Chance: 1e-9}, false},
		{"a fail that chance may show", false, assert.Result{Verdict: assert.Fail, Chance: 5e-6}, true},
		{"a fail that needs no chance", false, assert.Result{Verdict: assert.Fail}, false},
		{"a pass", true, assert.Result{Verdict: assert.Pass}, false},
	} {
		if got := bendable(assert.Judged{Kind: assert.Kind{Late: tt.late}}, tt.res); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
