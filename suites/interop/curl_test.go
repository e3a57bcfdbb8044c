package interop

import (
	"context"
	"os/exec"
	"slices"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// curl's policy (man page, --retry): waits of 1, 2, 4 s and so on without jitter after 408, 429 and the transient 5xx, not
// after a reset; Retry-After is kept; no time limit unless asked for. This runs in real time, as users run it.
func TestCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	for _, c := range []struct {
		name   string
		flags  []string
		breaks []string // must fail
		keeps  []string // must pass
	}{
		{"with retries", []string{"--retry", "3"},
			[]string{"retries-transient"},
			[]string{"backoff-growth", "client-rate", "no-retry-4xx", "retry-after-date", "retry-after-delta", "retry-cap"}},
		{"with retries of everything", []string{"-f", "--retry", "10", "--retry-all-errors"},
			[]string{"amplification-factor", "auth-refresh-once", "identical-payload-rate", "no-retry-4xx", "no-retry-permanent-5xx",
				"retry-cap", "special-4xx"},
			[]string{"retries-transient", "retry-after-delta"}},
		{"without retries", nil,
			[]string{"retries-transient"},
			[]string{"no-retry-4xx"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := verify(t, append(append([]string{"curl", "-sS"}, c.flags...), "{{url}}/driver/status")...)
			got := slices.DeleteFunc(broken(r), twoSided)
			// With -f the connection of an error is closed, unless its whole body has come by then.
			got = slices.DeleteFunc(got, func(id string) bool { return id == "connection-discipline" })
			if !slices.Equal(got, c.breaks) {
				t.Errorf("breaks %v\n want  %v\n%s", got, c.breaks, text(r))
			}
			for _, id := range c.keeps {
				if v := worst(r, id); v != assert.Pass {
					t.Errorf("%s is %v, not kept\n%s", id, v, text(r))
				}
			}
			// A starved machine may leave it undecided that curl neither spreads its waits nor ends, but nothing hides it.
			for _, id := range []string{"jitter-present", "total-deadline"} {
				if v := worst(r, id); v == assert.Pass {
					t.Errorf("%s passes\n%s", id, text(r))
				}
			}
		})
	}
}

func twoSided(id string) bool {
	kind, err := assert.Kinds.Get(id)
	return err == nil && kind.Late
}

func verify(t *testing.T, argv ...string) report.Report {
	t.Helper()
	r, err := contract.Examine(context.Background(), contract.Request{Client: driver.Command(argv...), Seed: 1, FailOn: assert.Major})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Errors {
		t.Errorf("not judged: %s", e)
	}
	return r
}

// worst is the verdict of a clause over all scenarios.
func worst(r report.Report, clause string) (v assert.Verdict) {
	for _, x := range r.Results {
		if x.Clause == clause {
			v = max(v, x.Verdict)
		}
	}
	return v
}
