package contract

import "github.com/retrygate/retrygate/assert"

// suspicious reports whether a clause that a machine or chance can bend is broken badly enough to fail the run.
func (s *session) suspicious(o *outcome, r *run) bool {
	for _, j := range r.clauses {
		if _, ok := o.settled[j.Kind.ID]; !ok && j.Level >= s.FailOn && bendable(j, o.results[j.Kind.ID]) {
			return true
		}
	}
	return false
}

// bendable reports whether a breach may be the machine's, or chance.
func bendable(j assert.Judged, r assert.Result) bool {
	return r.Verdict == assert.Fail && (j.Kind.Late || r.Chance > assert.SureAlpha)
}

// confirm leaves a breach of such a clause standing only if a second run shows it too: what one run in so many would
// show of a good client, two hardly ever do.
func (o *outcome) confirm(again *outcome, r *run) {
	for _, j := range r.clauses {
		first := o.results[j.Kind.ID]
		if _, ok := o.settled[j.Kind.ID]; ok || !bendable(j, first) {
			continue
		}
		second := again.results[j.Kind.ID]
		var why string
		switch {
		case again.err != nil:
			why = again.err.Error()
		case second.Verdict == assert.Fail:
			first.Detail += "; a second run showed it too"
			o.results[j.Kind.ID] = first
			continue
		default:
			why = second.Verdict.String() + ": " + second.Detail
		}
		first.Verdict, first.Witness = assert.Inconclusive, nil
		first.Detail = "one run in two broke it (" + first.Detail + "), and the other did not (" + why + ")"
		o.results[j.Kind.ID] = first
	}
}
