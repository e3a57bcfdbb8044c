package infer

import (
	"math"
	"slices"
)

// tooLate is what would decide where lateness is of the size of the waits.
const tooLate = "the machine was late by about as much as the client waits, if it does; a run on a quiet one would tell"

// mayHide reports whether waits that pass for none are longer on the whole than lateness makes those of a client that comes
// back at once: three standard errors and more.
func (s *sample) mayHide() bool {
	all := slices.Concat(s.by...)
	slices.Sort(all)
	sum := 0.0
	for _, wait := range all {
		sum += wait
	}
	n := float64(len(all))
	return s.noise.tick == 0 && quantile(all, 0.2) > immediately.Seconds() && sum/n > s.noise.mean*(1+3/math.Sqrt(n))
}

// unsteady reports whether the waits before most retries lie apart as jitter of +-10 % draws them, beyond what rounding does. Of
// many calls those are left out that any machine stretches.
func (j judgement) unsteady() bool {
	apart := 0
	for k, waits := range j.by {
		last := len(waits) - 1
		if len(waits) >= fewCalls {
			last -= Dropped(len(waits))
		}
		if waits[last]-waits[0] > max(idleStall, 2*j.noise.tick, 0.2*j.middle[k]) {
			apart++
		}
	}
	return 2*apart > len(j.by)
}

// hidden is what can be said where lateness explains waits that lie apart as well as jitter would.
func (j judgement) hidden() Jitter {
	next := JitterProportional
	for i := range j.fits {
		if f := &j.fits[i]; f.kind != JitterNone {
			next = f.class()
			break
		}
	}
	return Jitter{
		Kind: Undecided, Confidence: 0.5, Ratio: 1, Candidates: []Candidate{{Name: string(JitterNone)}, {Name: string(next)}},
		Needs: "the machine was so late that it may have drawn the waits apart, or have hidden jitter; a run on a quiet one would tell",
	}
}
