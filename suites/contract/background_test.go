package contract_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// TestRetriesInTheBackgroundAreJudged has commands hand their retries to a child and end.
func TestRetriesInTheBackgroundAreJudged(t *testing.T) {
	for _, program := range []string{"sh", "curl", "sleep"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("this machine has no %s", program)
		}
	}
	for _, c := range []struct {
		name, script string
		want         assert.Verdict
	}{
		{"seen", "curl -sf $RETRYGATE_URL || (sleep 1; curl -s $RETRYGATE_URL) & sleep 0.2", assert.Fail},
		{"perhaps to come", "curl -sf $RETRYGATE_URL || (sleep 20; curl -s $RETRYGATE_URL) & sleep 0.2", assert.Inconclusive},
		{"none", "curl -s $RETRYGATE_URL", assert.Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := contract.Examine(t.Context(), contract.Request{
				Client: driver.Command("sh", "-c", c.script), Seed: 1, FailOn: assert.Major,
				Scenarios: named("sustained-400"), Limit: 30 * time.Second,
			})
			if err != nil || len(r.Errors) > 0 {
				t.Fatal(err, r.Errors)
			}
			for _, res := range r.Results {
				if res.Clause == "no-retry-4xx" && res.Verdict != c.want {
					t.Errorf("%s: %s, want %s", res.Verdict, res.Detail, c.want)
				}
			}
		})
	}
}
