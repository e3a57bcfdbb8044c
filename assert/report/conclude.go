package report

import (
	"fmt"

	"github.com/retrygate/retrygate/assert"
)

// Exit codes of a run.
const (
	ExitKept         = 0 // nothing at the fail-on level is broken or undecided
	ExitBroken       = 1 // something at or above the fail-on level is broken
	ExitTrouble      = 2 // wrong usage, own error, or a client that could not be judged
	ExitInconclusive = 3 // nothing is broken, but something at that level is undecided, or nothing was exercised
)

// Conclude sets Verdict and Exit from the results, the errors and FailOn.
func (r *Report) Conclude() {
	var failed, undecided, exercised bool
	for _, x := range r.Results {
		gates := x.Level >= r.FailOn && x.Accepted == nil
		failed = failed || gates && x.Verdict == assert.Fail
		undecided = undecided || gates && x.Verdict == assert.Inconclusive
		exercised = exercised || x.Verdict != assert.NotExercised
	}
	switch {
	case failed:
		r.Verdict, r.Exit = assert.Fail, ExitBroken
	case len(r.Errors) > 0:
		r.Verdict, r.Exit = assert.Inconclusive, ExitTrouble
	case !exercised:
		r.Verdict, r.Exit = assert.NotExercised, ExitInconclusive
	case undecided:
		r.Verdict, r.Exit = assert.Inconclusive, ExitInconclusive
	default:
		r.Verdict, r.Exit = assert.Pass, ExitKept
	}
}

// Conclusion is the last line of a report: the verdict, the exit code and what they mean.
func (r Report) Conclusion() string {
	return fmt.Sprintf("%s (exit %d): %s", r.Verdict, r.Exit, r.meaning())
}

func (r Report) meaning() string {
	all := clauses(r)
	gating := func(v assert.Verdict) int {
		return count(all, func(c clause) bool { return c.verdict == v && c.level >= r.FailOn })
	}
	switch {
	case r.Exit == ExitBroken:
		return fmt.Sprintf("the client breaks %s at level %s.", plural(gating(assert.Fail), "clause"), atLeast(r.FailOn))
	case r.Exit == ExitTrouble:
		return "not every client could be judged; nothing that was judged is broken."
	case r.Verdict == assert.NotExercised:
		return "nothing was exercised, so nothing is proven."
	case r.Exit == ExitInconclusive:
		return fmt.Sprintf("nothing is broken, but %s at level %s could not be decided.",
			plural(gating(assert.Inconclusive), "clause"), atLeast(r.FailOn))
	default:
		if n := len(known(r)); n > 0 {
			return fmt.Sprintf("the contract is kept at level %s, but for %s accepted as known.", atLeast(r.FailOn), plural(n, "clause"))
		}
		return fmt.Sprintf("the contract is kept at level %s.", atLeast(r.FailOn))
	}
}

func atLeast(l assert.Level) string {
	if l == assert.Critical {
		return l.String()
	}
	return l.String() + " or above"
}
