package infer

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
