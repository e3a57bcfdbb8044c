package contract

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// delivered is how many calls a scenario brings: of a poller, how often it asks.
func delivered(s scenarios.Scenario) int {
	switch n := max(1, s.Clients); {
	case s.Watch > 0:
		return n * watchedPolls
	case !s.Work.IsZero():
		return n * s.Work.Number()
	default:
		return n
	}
}

// A run of verify brings each clause the calls that it says it needs to decide.
func TestRunsBringTheCallsThatClausesNeed(t *testing.T) {
	client := driver.HTTPFunc("any", func(context.Context, *http.Client, string) error { return nil })
	var run []scenarios.Scenario
	for _, agreed := range []string{"{}", "poll: {every: 1s}"} {
		c, err := assert.LoadContract("agreed.yaml", []byte(agreed))
		if err != nil {
			t.Fatal(err)
		}
		suit, _ := Default(client, c, true)
		run = append(run, suit...)
	}
	for _, kind := range assert.Kinds.All() {
		sum, most, need := 0, 0, kind.Samples
		for _, s := range run {
			if !slices.Contains(s.Judges, kind.ID) {
				continue
			}
			n := delivered(s)
			sum, most = sum+n, max(most, n)
			if each := n / answers(&s); each < need.Each {
				t.Errorf("%s: %s brings %d calls for each answer, and it needs %d", kind.ID, s.Name, each, need.Each)
			}
		}
		if sum < need.Calls || need.Together && most < need.Calls {
			t.Errorf("%s: a run brings %d calls, %d at most in one scenario, and it needs %d", kind.ID, sum, most, need.Calls)
		}
	}
}

// A scenario that does not say how many clients it wants gets those that its clauses need.
func TestClientsForClauses(t *testing.T) {
	for _, c := range []struct {
		file string
		want int
	}{
		{"judges: [backoff-growth]\nrules: [{fault: 503}]", 20},
		{"judges: [herd-index, retry-cap]\nrules: [{fault: 503}]", 30},
		{"judges: [redirect-bound]\nrules: [{fault: redirect}]", 2},
		{"judges: [special-4xx]\nrules: [{per: client, sweep: [408, 421, 425]}]", 15},
		{"judges: [herd-index]\nclients: 3\nrules: [{fault: 503}]", 3},
		{"judges: [retry-budget-ratio]\nwork: {every: 1s, calls: 5}\nrules: [{fault: 503}]", 1},
		{"judges: [poll-cadence]\nwatch: 20s\nrules: [{fault: 503}]", 1},
		{"judges: [server-directive]\nrules: [{fault: 503}]", 1}, // which the contract does not ask for
	} {
		s, err := scenarios.Load("own.yaml", []byte("name: own\nsummary: Mine.\n"+c.file))
		if err != nil {
			t.Fatal(err)
		}
		session, err := newSession(Request{Scenarios: []scenarios.Scenario{s}})
		if err != nil {
			t.Fatal(err)
		}
		session.stop()
		if got := session.runs[0].scenario.Clients; got != c.want {
			t.Errorf("%s\n%d clients, want %d", c.file, got, c.want)
		}
	}
}
