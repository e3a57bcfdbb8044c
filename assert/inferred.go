package assert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/assert/infer"
)

// Inferred is the retry policy behind calls.
func Inferred(calls []Call) infer.Policy {
	return infer.Of(Observed(calls), InferOptions(calls))
}

// InferredContract writes a policy that was seen as a contract file. What was not seen is left open there, and a clause that the
// calls do not show to be kept is off, with the reason beside it: so lint finds nothing, and who made the calls keeps it.
func InferredContract(name string, p infer.Policy, calls []Call) ([]byte, error) {
	draft := newDraft(name, p)
	for range mostDrafts {
		c, err := LoadContract(name+".yaml", draft.text())
		if err != nil {
			return nil, fmt.Errorf("infer: the contract that was written cannot be read: %w", err)
		}
		changed := draft.settle(c.Lint())
		if !changed {
			changed = draft.judge(c, calls)
		}
		if !changed {
			return draft.text(), nil
		}
	}
	return nil, errors.New("infer: no contract without contradictions comes of this policy")
}

// mostDrafts bounds how often a draft is changed: each time a setting or a clause is taken out.
const mostDrafts = 20

// settle takes out the settings that lint objects to, and reports whether there were any.
func (d *draft) settle(objections []string) (changed bool) {
	for _, text := range objections {
		for _, field := range d.fields() {
			if strings.Contains(text, field) && !d.dropped[field] {
				d.dropped[field], changed = true, true
				break
			}
		}
	}
	return changed
}

// judge takes out what the calls break, and switches off the clauses that they do not show to be kept.
func (d *draft) judge(c *Contract, calls []Call) (changed bool) {
	for _, r := range judgeRuns(c, calls) {
		field, about := policyClauses[r.Clause]
		written := field != "" && slices.Contains(d.fields(), field) && !d.dropped[field]
		switch {
		case d.off[r.Clause] != "", about && r.Verdict == Pass, written && r.Verdict != Fail:
			continue
		case written:
			d.dropped[field] = true
		}
		why := "not seen"
		switch {
		case !about:
			why = "no part of the policy"
		case r.Verdict == Fail:
			why = "broken: " + r.Detail
		case r.Verdict == Inconclusive:
			why = "not certain: " + r.Detail
		}
		d.off[r.Clause], changed = strings.ReplaceAll(why, "\n", " "), true
	}
	return changed
}

// judgeRuns judges the calls of each run by themselves, since each has a clock of its own, and gives each clause the worst
// breach, else the best of its verdicts.
func judgeRuns(c *Contract, calls []Call) (all []Result) {
	weight := map[Verdict]int{NotExercised: 0, Inconclusive: 1, Pass: 2, Fail: 3}
	for len(calls) > 0 {
		n := 1
		for n < len(calls) && calls[n].Run == calls[0].Run {
			n++
		}
		for _, r := range Judge(c, nil, calls[:n]) {
			i := slices.IndexFunc(all, func(have Result) bool { return have.Clause == r.Clause })
			if i < 0 {
				all = append(all, r)
			} else if weight[r.Verdict] > weight[all[i].Verdict] {
				all[i] = r
			}
		}
		calls = calls[n:]
	}
	return all
}

// policyClauses are the clauses that a retry policy can keep or break wherever it runs, with the setting that each of them
// checks, "" for those that have none that could be seen. What the others judge depends on what a client is used for.
var policyClauses = map[string]string{
	"retry-cap": "attempts.max", "total-deadline": "attempts.within", "amplification-factor": "",
	"min-spacing": "backoff.initial", "backoff-growth": "backoff.multiplier", "delay-cap": "backoff.max",
	"jitter-present": "backoff.jitter", "jitter-range": "backoff.jitter",
	"no-retry-4xx": "", "no-retry-permanent-5xx": "", "special-4xx": "", "retries-transient": "",
	"retry-after-delta": "", "retry-after-date": "", "retry-after-not-late": "", "retry-after-sanity": "",
}
