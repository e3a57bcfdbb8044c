package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/assert"
)

// Count adds calls to what the scenario says of how requests were told apart, and of what was not charged.
func (s *Scenario) Count(calls []assert.Call) {
	s.Calls = sum(append(s.Calls, assert.Groupings(calls)...))
	for what, n := range assert.Uncharged(calls) {
		if s.Uncharged == nil {
			s.Uncharged = map[string]int{}
		}
		s.Uncharged[what] += n
	}
}

// sum adds groupings of one kind up, the most frequent kind first.
func sum(all []assert.Grouping) []assert.Grouping {
	var list []assert.Grouping
	for _, g := range all {
		i := slices.IndexFunc(list, func(have assert.Grouping) bool {
			have.Calls = g.Calls
			return have == g
		})
		if i < 0 {
			list = append(list, g)
		} else {
			list[i].Calls += g.Calls
		}
	}
	slices.SortStableFunc(list, func(a, b assert.Grouping) int { return cmp.Compare(b.Calls, a.Calls) })
	return list
}

// toldApart says how requests were told apart over all scenarios: "12 told apart by Idempotency-Key (exact)"; "" if there
// were no calls.
func toldApart(r Report) string {
	var all []assert.Grouping
	for _, s := range r.Scenarios {
		all = append(all, s.Calls...)
	}
	all = sum(all)
	words := make([]string, len(all))
	for i, g := range all {
		words[i] = fmt.Sprintf("%d by %v", g.Calls, g)
	}
	if len(all) == 0 {
		return ""
	}
	words[0] = strings.Replace(words[0], " by ", " told apart by ", 1)
	return strings.Join(words, "; ")
}

// uncharged lists in words what was recognised and not charged as a retry, in a fixed order.
var uncharged = []struct{ name, one, more string }{
	{assert.Resend.String(), "request that the transport sent again", "requests that the transport sent again"},
	{assert.Unprocessed.String(), "refused stream", "refused streams"},
	{assert.Hop.String(), "retry of a proxy", "retries of proxies"},
	{assert.StepRedirect.String(), "redirect", "redirects"},
	{assert.StepReauth.String(), "answer to a challenge", "answers to challenges"},
	{assert.StepResume.String(), "resumed download", "resumed downloads"},
	{assert.StepHedge.String(), "hedge", "hedges"},
	{string(assert.Split), "part of a request that was too large", "parts of requests that were too large"},
	{string(assert.Merged), "request that was changed after a conflict", "requests that were changed after a conflict"},
}

func notCharged(r Report) string {
	var words []string
	for _, kind := range uncharged {
		n := 0
		for _, s := range r.Scenarios {
			n += s.Uncharged[kind.name]
		}
		switch {
		case n == 1:
			words = append(words, "1 "+kind.one)
		case n > 1:
			words = append(words, fmt.Sprintf("%d %s", n, kind.more))
		}
	}
	return strings.Join(words, ", ")
}
