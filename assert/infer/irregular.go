package infer

import "math"

// irregular is the last resort: before each retry some range of its own. Only where it explains far more than every family
// does is the answer that none is known.
var irregular = &Family{Name: unknownFamily, Summary: "no family that is known explains the waits"}

const unknownFamily = "unknown"

// irregularity fits a range to each retry by itself.
func irregularity(s *sample) fit {
	f := fit{family: irregular, kind: JitterProportional, params: 2 * float64(s.retries()), lnL: 0}
	for k, waits := range s.by {
		low, top := waits[0], quantile(waits, 0.97)
		if k == 0 {
			f.low, f.top = low, top
		}
		for _, w := range waits {
			f.lnL += math.Log(s.noise.density(w, low, max(top, low), s.clocks[k]))
		}
	}
	return f
}
