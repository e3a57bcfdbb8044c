package faultserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// problem is something wrong with a rule: where (fields as in a file, "match.path") and what.
type problem struct {
	rule           int
	field, message string
}

// problems finds everything that is wrong with a plan: settings that cannot be, and rules that can never fire. Nothing is
// concluded about other rules from one that could not be read whole.
func (p Plan) problems(unread func(rule int) bool) []problem {
	var all []problem
	for i, r := range p.Rules {
		found := slices.Concat(r.wrongMatch(), r.wrongFaults(), r.wrongConnections(), r.neverOn(i == len(p.Rules)-1), p.wrongPlace(i, unread), p.tooEarly(i))
		for _, f := range found {
			f.rule = i
			all = append(all, f)
		}
	}
	return all
}

// oneLine joins what is wrong with the settings of one thing.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }

func wrong(field, format string, args ...any) []problem {
	return []problem{{field: field, message: fmt.Sprintf(format, args...)}}
}

// wrongPlace finds names that are taken, and rules behind one that takes everything away from them.
func (p Plan) wrongPlace(i int, unread func(rule int) bool) (found []problem) {
	r := p.Rules[i]
	for j, earlier := range p.Rules[:i] {
		if earlier.name(j) == r.name(i) {
			found = append(found, wrong("name", "the name %q is taken by rule %d; names tell rules apart in reports", r.name(i), j+1)...)
		}
	}
	for j, earlier := range p.Rules[:i] {
		if !unread(j) && earlier.unconditional() && earlier.Match.covers(r.Match) {
			return append(found, wrong("", "this rule can never act: rule %s before it takes all of its requests", earlier.name(j))...)
		}
	}
	return found
}

// tooEarly finds faults that want the body unread behind rules that have to read it to know whether they act.
func (p Plan) tooEarly(i int) []problem {
	r := p.Rules[i]
	if !slices.ContainsFunc(r.faults(), fault.Spec.Early) {
		return nil
	}
	for j, earlier := range p.Rules[:i+1] {
		weighs := slices.ContainsFunc(earlier.faults(), fault.Spec.Weighs)
		if (weighs || earlier.scope() == PerCall && earlier.counts()) && !earlier.Match.apart(r.Match) {
			return wrong("", "the fault acts before the body is read, but rule %s needs the body to tell requests apart; "+
				"count per: client there, put that rule behind, or let this fault act after: body", earlier.name(j))
		}
	}
	return nil
}

// scope is what the rule counts over. A sweep over all would have one fault.
func (r Rule) scope() Scope {
	switch {
	case len(r.Sweep) == 0 || r.Per != PerAll:
		return r.Per
	case r.onConnections():
		return PerClient
	default:
		return PerCall
	}
}

// counts reports whether the number of a hit, or its time, matters to the rule.
func (r Rule) counts() bool { return len(r.Steps) > 0 || len(r.Sweep) > 0 || !r.When.Always() }

// afterSome reports whether the rule leaves the first requests on each connection to others.
func (r Rule) afterSome() bool {
	return slices.ContainsFunc(r.faults(), func(f fault.Spec) bool {
		_, ok := f.Fault().(*fault.ResetAfter)
		return ok
	})
}

// unconditional reports whether the rule acts on every request that meets its match.
func (r Rule) unconditional() bool {
	return r.When.Always() && (r.Chance == nil || *r.Chance >= 1) && len(r.Steps) == 0 &&
		!slices.ContainsFunc(r.faults(), fault.Spec.IsSelective) && !r.afterSome() &&
		!slices.ContainsFunc(r.faults(), fault.Spec.OnStreams)
}
