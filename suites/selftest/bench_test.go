package selftest

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// hashicorp is go-retryablehttp with its defaults: 5 attempts, waits of 1, 2, 4 and 8 s.
func hashicorp(ctx context.Context, h *http.Client, url string) error {
	c := retryablehttp.NewClient()
	c.HTTPClient, c.Logger = h, nil
	request, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, url+"/driver/status", nil)
	if err != nil {
		return err
	}
	answer, err := c.Do(request)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// TestWholeContractInVirtualTime is what the benchmark measures.
func TestWholeContractInVirtualTime(t *testing.T) {
	r, err := contract.Examine(t.Context(), contract.Request{
		Client: driver.HTTPFunc("hashicorp", hashicorp), Seed: 1, FailOn: assert.Major,
		Bubble: func(run func()) { synctest.Test(t, func(*testing.T) { run() }) },
	})
	if err != nil || len(r.Errors) > 0 {
		t.Fatal(err, r.Errors)
	}
	if len(r.Scenarios) < 10 || byVerdict(r, assert.Fail)["retry-cap"] == nil {
		t.Errorf("%d scenarios; it makes 5 attempts, which breaks retry-cap: %+v", len(r.Scenarios), r.Results)
	}
}

// BenchmarkWholeContract judges go-retryablehttp by the whole standard contract in virtual time: 2 s at most. It is a process
// of its own, since only a test can make a bubble, and so counts its start too.
func BenchmarkWholeContract(b *testing.B) {
	for b.Loop() {
		if out, err := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestWholeContractInVirtualTime$").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	b.ReportMetric(2/(b.Elapsed().Seconds()/float64(b.N)), "of-budget-ratio")
}
