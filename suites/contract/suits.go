package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// Default lists the scenarios that ship and suit a client, which are those that run where none is named, and says why others
// were left out. Where the contract has a poll section it is those for pollers, and only there. Those that want a fleet at once are not
// for commands, each client of which is a process, unless they are workers or the contract sets a clause of it. Those that act in
// TLS handshakes are for servers that speak it.
func Default(client driver.Client, c *assert.Contract, tls bool) (suit []scenarios.Scenario, notes []string) {
	var costly, secure []string
	for _, s := range scenarios.All() {
		switch {
		case (s.Watch > 0) != (c.Poll.Every > 0): // a poller makes no calls
		case s.Fleet && driver.Argv(client) != nil && !driver.Works(client) && !set(c, s):
			costly = append(costly, s.Name)
		case s.Plan().NeedsTLS() && !tls:
			secure = append(secure, s.Name)
		default:
			suit = append(suit, s)
		}
	}
	if len(costly) > 0 {
		notes = append(notes, fmt.Sprintf("left out, because many processes at once are costly: %s; --scenario %s runs it",
			strings.Join(costly, ", "), costly[0]))
	}
	if len(secure) > 0 {
		notes = append(notes, fmt.Sprintf("left out, because it takes TLS: %s; verify --tls runs it", strings.Join(secure, ", ")))
	}
	return suit, notes
}

// set reports whether the contract sets one of the scenario's clauses.
func set(c *assert.Contract, s scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Judges, func(id string) bool { setting, ok := c.Clauses[id]; return ok && !setting.Off })
}

// needsWork reports whether a scenario wants a client that keeps working where this one ends after one call.
func (s *session) needsWork(sc scenarios.Scenario) bool {
	return !sc.Work.IsZero() && !driver.Works(s.Client)
}

// worker says how the session's client would be made to keep working.
func (s *session) worker() string {
	if driver.Argv(s.Client) == nil {
		return "make it with driver.Func or driver.Worker"
	}
	return "run it as a worker that takes a line for each call (retrygate verify --worker)"
}

// idle is the outcome for a client that ends after one call where it is to keep working.
func (r *run) idle(s *session) *outcome {
	return r.untried(fmt.Sprintf("this shows only in a client that keeps working, and %s ends after one call; %s", s.Client.Name(), s.worker()))
}

// idled is a note about all scenarios that need a client that keeps working, as their clauses may be judged elsewhere; "" without.
func (s *session) idled() string {
	var names []string
	for _, r := range s.runs {
		if s.needsWork(r.scenario) {
			names = append(names, r.scenario.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("left out, because %s ends after one call: %s; %s", s.Client.Name(), strings.Join(names, ", "), s.worker())
}

// plain is the outcome on a server that speaks no TLS, where the scenario acts in handshakes.
func (r *run) plain() *outcome {
	return r.untried("this shows only in a TLS handshake, and the server spoke plain HTTP; let it speak TLS (verify --tls, contract.TLS in Go)")
}

// untried is the outcome of a scenario that was not run.
func (r *run) untried(why string) *outcome {
	o := &outcome{Outcome: &driver.Outcome{Scenario: r.scenario}, results: map[string]assert.Result{}}
	for _, id := range r.ids() {
		o.results[id] = assert.Result{Clause: id, Detail: why}
	}
	return o
}
