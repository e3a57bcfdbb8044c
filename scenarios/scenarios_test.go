package scenarios_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/strict"
	"github.com/retrygate/retrygate/scenarios"
)

// clauses are the ids that the scenarios have to cover between them. This package may not import their home.
var clauses = []string{
	"amplification-factor", "attempt-header", "attempt-timeout", "auth-refresh-once", "backoff-growth", "body-identical",
	"circuit-breaker", "client-rate", "connection-discipline", "delay-cap", "hedge-bounded", "herd-index",
	"idempotency-key-stable", "idempotent-only", "identical-payload-rate", "jitter-present", "jitter-range", "min-spacing",
	"no-retry-4xx", "no-retry-after-cancel", "no-retry-permanent-5xx", "poll-cadence", "recovery-drain", "redirect-bound",
	"retries-transient", "retry-after-date", "retry-after-delta", "retry-after-not-late", "retry-after-sanity",
	"retry-budget-ratio", "retry-cap", "server-directive", "single-flight", "special-4xx", "stop-after-success",
	"strict-rfc-single-retry", "throttle-scope", "total-deadline", "unprocessed-stream-retry",
}

func TestEveryClauseIsJudged(t *testing.T) {
	judged := map[string]bool{}
	for _, s := range scenarios.All() {
		for _, id := range s.Judges {
			judged[id] = true
			if !slices.Contains(clauses, id) {
				t.Errorf("%s judges %s, which is no clause", s.Name, id)
			}
		}
	}
	for _, id := range clauses {
		if !judged[id] {
			t.Errorf("no scenario judges %s", id)
		}
	}
}

func TestScenariosSayWhatTheyAreFor(t *testing.T) {
	for _, s := range scenarios.All() {
		t.Run(s.Name, func(t *testing.T) {
			if !strings.HasSuffix(s.Summary, ".") || len(s.Summary) > 100 {
				t.Errorf("the summary is no short sentence: %q", s.Summary)
			}
			if len(s.Why) < 60 || strings.Contains(s.Why, "\n") || !strings.HasSuffix(s.Why, ".") {
				t.Errorf("why does not say why, in one paragraph: %q", s.Why)
			}
			for _, r := range s.Rules {
				if r.Name == "" {
					t.Error("a rule has no name to be called by in reports")
				}
				// Clients of a run start as the machine lets them. What one of them meets must not depend on the others.
				if counts := !r.When.Always() || r.Steps != nil || r.Sweep != nil; counts && r.Per != faultserver.PerClient {
					t.Errorf("rule %s counts over %v", r.Name, r.Per)
				}
				if len(r.Sweep) > 0 && s.Clients%len(r.Sweep) != 0 {
					t.Errorf("%d clients do not meet the %d faults of the sweep alike", s.Clients, len(r.Sweep))
				}
			}
		})
	}
}

func TestGet(t *testing.T) {
	s, err := scenarios.Get("503-burst")
	if err != nil || s.Clients != 20 || s.String() != "503-burst: "+s.Summary || len(s.Plan().Rules) != 1 {
		t.Errorf("got %v: %v", s, err)
	}
	if _, err = scenarios.Get("503-brust"); err == nil || err.Error() != `unknown scenario "503-brust"; did you mean 503-burst?` {
		t.Errorf("got %v", err)
	}
	if len(scenarios.All()) != len(scenarios.Names()) || len(scenarios.Names()) < 12 {
		t.Errorf("%d scenarios", len(scenarios.All()))
	}
}

func TestSourceIsTheFile(t *testing.T) {
	for _, name := range scenarios.Names() {
		data, err := scenarios.Source(name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := scenarios.Load(name, data); err != nil || s.Name != name {
			t.Errorf("%s reads as %s: %v", name, s.Name, err)
		}
	}
	if _, err := scenarios.Source("../README"); err == nil {
		t.Error("a path was taken for a name")
	}
}

// TestSchemaKnowsTheFields looks for what editors need to complete a scenario.
func TestSchemaKnowsTheFields(t *testing.T) {
	text, err := json.Marshal(strict.Schema(scenarios.Scenario{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"judges", "rules", "match", "when", "window", "per", "client", "sweep", "status", "retry-after", "date", "chance"} {
		if !strings.Contains(string(text), `"`+word+`"`) {
			t.Errorf("the schema does not know %s", word)
		}
	}
}
