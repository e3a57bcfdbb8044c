package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/retrygate/retrygate/assert"
)

// clause is everything that a report says about one clause: its worst verdict, the results that gave it (worst) and
// those that did not.
type clause struct {
	id      string
	level   assert.Level
	verdict assert.Verdict
	worst   []Result // at least one; with a witness first
	rest    []Result
}

// clauses gathers the results by clause: the most severe level first, then by name.
func clauses(r Report) []clause {
	byID, accepted := map[string][]Result{}, map[string]bool{}
	for _, x := range r.Results {
		if x.Accepted != nil { // known shows those
			accepted[x.Clause] = true
			continue
		}
		byID[x.Clause] = append(byID[x.Clause], x)
	}
	all := make([]clause, 0, len(byID))
	for id, results := range byID {
		c := clause{id: id}
		for _, x := range results {
			c.verdict, c.level = max(c.verdict, x.Verdict), max(c.level, x.Level)
		}
		if accepted[id] && c.verdict <= assert.Pass {
			continue // it is broken elsewhere: no word that it passes
		}
		for _, x := range results {
			if x.Verdict == c.verdict {
				c.worst = append(c.worst, x)
			} else {
				c.rest = append(c.rest, x)
			}
		}
		slices.SortStableFunc(c.worst, func(a, b Result) int {
			return cmp.Compare(min(1, len(b.Witness)), min(1, len(a.Witness)))
		})
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b clause) int {
		return cmp.Or(cmp.Compare(b.level, a.level), cmp.Compare(a.id, b.id))
	})
	return all
}

// with picks the clauses of one verdict.
func with(all []clause, v assert.Verdict) []clause {
	return slices.DeleteFunc(slices.Clone(all), func(c clause) bool { return c.verdict != v })
}

// split parts the clauses that break a build from those that are only shown.
func split(all []clause, gate assert.Level) (gating, others []clause) {
	for _, c := range all {
		if c.level >= gate {
			gating = append(gating, c)
		} else {
			others = append(others, c)
		}
	}
	return gating, others
}

func ids(all []clause) []string {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.id
	}
	return names
}

func count[T any](all []T, is func(T) bool) (n int) {
	for _, x := range all {
		if is(x) {
			n++
		}
	}
	return n
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
