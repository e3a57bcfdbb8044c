package assert

import "testing"

// Alphas is how chance is shared out, by clause.
var Alphas = map[string]float64{
	"min-spacing": spacingAlpha, "backoff-growth": growthAlpha, "special-4xx": specialAlpha, "retry-after-sanity": sanityAlpha,
	"hedge-bounded": hedgeAlpha,
}

func TestChanceAddsUpToOneInTenThousand(t *testing.T) {
	total := 0.0
	for id, alpha := range Alphas {
		if _, err := Kinds.Get(id); err != nil {
			t.Error(err)
		}
		total += alpha
	}
	if total > 1.0001e-4 {
		t.Errorf("the clauses together err by %.2e", total)
	}
}

// JudgeInStretches is JudgeJournal with a size of stretches.
var JudgeInStretches = judgeInStretches
