package selftest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/clients"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// optional are the clauses that the strict contract leaves out, with contracts that ask for them and the reference clients
// that break and keep them.
var optional = map[string]struct {
	contract     string
	breaks, keep []string
}{
	"server-directive": {
		"clauses: {server-directive: on}",
		[]string{"polite-get", "never-retries"}, []string{"polite-directed"},
	},
	"strict-rfc-single-retry": {
		"clauses: {strict-rfc-single-retry: on}",
		[]string{"polite-get", "caps-statuses-only"}, []string{"polite-short-fuse", "never-retries"},
	},
	"jitter-range": {
		"backoff: {initial: 500ms, multiplier: 2, max: 8s, jitter: full}",
		[]string{"polite-equal-jitter", "polite-proportional-jitter", "no-jitter"}, []string{"polite-get"},
	},
}

func TestOptionalClauses(t *testing.T) {
	for _, kind := range assert.Kinds.All() {
		asked := slices.ContainsFunc(assert.Strict().Judges(), func(j assert.Judged) bool { return j.Kind.ID == kind.ID })
		if _, ok := optional[kind.ID]; ok && asked {
			t.Errorf("%s is asked for by default", kind.ID)
		}
	}
	for id, o := range optional {
		agreed, err := assert.LoadContract("agreed.yaml", []byte(o.contract))
		if err != nil {
			t.Fatal(err)
		}
		var judging []scenarios.Scenario
		for _, s := range scenarios.All() {
			if slices.Contains(s.Judges, id) {
				s.Judges = []string{id}
				judging = append(judging, s)
			}
		}
		for _, name := range slices.Concat(o.breaks, o.keep) {
			t.Run(id+"/"+name, func(t *testing.T) {
				t.Parallel()
				client, err := clients.All.Get(name)
				if err != nil {
					t.Fatal(err)
				}
				synctest.Test(t, func(t *testing.T) {
					r, err := contract.Examine(context.Background(), contract.Request{
						Client: driver.HTTPFunc(name, client.Call), Contract: agreed, Scenarios: judging, Seed: 1, Memory: true,
						Limit: 10 * time.Minute, FailOn: assert.Advisory,
					})
					if err != nil {
						t.Fatal(err)
					}
					failed, passed := byVerdict(r, assert.Fail)[id], byVerdict(r, assert.Pass)[id]
					if broken := slices.Contains(o.breaks, name); broken != (len(failed) > 0) || !broken && len(passed) == 0 {
						t.Errorf("failed: %q\npassed: %q\nunsure: %q", failed, passed, byVerdict(r, assert.Inconclusive)[id])
					}
				})
			})
		}
	}
}
