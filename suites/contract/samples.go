package contract

import (
	"slices"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
)

// Sized gives the scenarios that do not say how many clients they want as many as the contract's clauses need to decide. Each
// makes one call there; where clients are given work, or work by themselves, one is enough.
func Sized(list []scenarios.Scenario, c *assert.Contract) []scenarios.Scenario {
	list = slices.Clone(list)
	judged := c.Judges()
	for i := range list {
		if s := &list[i]; s.Clients == 0 {
			s.Clients = clientsFor(s, judged)
		}
	}
	return list
}

// mostWanted bounds the clients that a scenario gets without having asked for them.
const mostWanted = 30

func clientsFor(s *scenarios.Scenario, judged []assert.Judged) int {
	need := 1
	for _, j := range judged {
		if s.Work.IsZero() && s.Watch == 0 && slices.Contains(s.Judges, j.Kind.ID) {
			need = max(need, j.Kind.Samples.Calls, j.Kind.Samples.Each*answers(s))
		}
	}
	return min(need, mostWanted)
}

// answers is how many kinds of answers a scenario shares out among its clients.
func answers(s *scenarios.Scenario) int {
	most := 1
	for _, r := range s.Rules {
		most = max(most, len(r.Sweep))
	}
	return most
}
