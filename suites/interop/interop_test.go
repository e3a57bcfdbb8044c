// Package interop judges real clients that nobody here wrote, each by the verdicts that its own source implies.
package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/hashicorp/go-retryablehttp"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// call is how a Go program calls a client library.
type call func(ctx context.Context, h *http.Client, url string) error

// hashicorp is hashicorp/go-retryablehttp with its defaults: 5 attempts, waits of 1, 2, 4 and 8 s without jitter, 429
// and every 5xx but 501, Retry-After kept on 429 and 503, no deadline.
func hashicorp(ctx context.Context, h *http.Client, url string) error {
	c := retryablehttp.NewClient()
	c.Logger, c.HTTPClient = nil, h
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, url+"/driver/status", nil)
	if err != nil {
		return err
	}
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// get makes one attempt and turns a bad status into an error, as callers of cenkalti/backoff do.
func get(ctx context.Context, h *http.Client, url string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/driver/status", nil)
	if err != nil {
		return 0, err
	}
	resp, err := h.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return 0, err
	}
	if resp.StatusCode >= 400 {
		err = fmt.Errorf("status %d", resp.StatusCode)
	}
	return resp.StatusCode, err
}

// backoffNaive is cenkalti/backoff as its README shows it: every error is retried, for 15 minutes.
func backoffNaive(ctx context.Context, h *http.Client, url string) error {
	_, err := backoff.Retry(ctx, func() (int, error) { return get(ctx, h, url) })
	return err
}

// backoffCareful is cenkalti/backoff used with care: permanent errors are marked, tries and time are bounded, Retry-After
// is left to the caller, and so is forgotten.
func backoffCareful(ctx context.Context, h *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 25*time.Second)
	defer cancel()
	_, err := backoff.Retry(ctx, func() (int, error) {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		status, err := get(attempt, h, url)
		if err != nil && status != 0 && !slices.Contains([]int{429, 500, 502, 503, 504}, status) {
			err = backoff.Permanent(err)
		}
		return status, err
	}, backoff.WithMaxTries(4))
	return err
}

func TestGoClients(t *testing.T) {
	for _, c := range []struct {
		name   string
		call   call
		breaks []string
	}{
		{"hashicorp/go-retryablehttp", hashicorp, []string{
			"amplification-factor", "attempt-timeout", "connection-discipline", "herd-index", "identical-payload-rate", "jitter-present", "no-retry-permanent-5xx",
			"retry-after-sanity", "retry-cap", "throttle-scope", "total-deadline",
		}},
		{"cenkalti/backoff, every error", backoffNaive, []string{
			"amplification-factor", "attempt-timeout", "auth-refresh-once", "identical-payload-rate", "no-retry-4xx", "no-retry-permanent-5xx", "retry-after-date",
			"retry-after-delta", "retry-cap", "special-4xx", "throttle-scope", "total-deadline",
		}},
		{"cenkalti/backoff, with care", backoffCareful, []string{"retry-after-date", "retry-after-delta", "throttle-scope"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := examine(t, driver.HTTPFunc(c.name, c.call))
			if got := broken(r); !slices.Equal(got, c.breaks) {
				t.Errorf("breaks %v\n want  %v\n%s", got, c.breaks, text(r))
			}
		})
	}
}

// examine judges a Go client by the strict contract in virtual time.
func examine(t *testing.T, c driver.Client) (r report.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var err error
		r, err = contract.Examine(context.Background(), contract.Request{
			Client: c, Seed: 1, Memory: true, FailOn: assert.Major, Limit: 10 * time.Minute,
		})
		if err = errors.Join(err, errors.New(strings.Join(r.Errors, "; "))); err.Error() != "" {
			t.Fatal(err)
		}
	})
	return r
}

// broken lists the clauses that fail in some scenario.
func broken(r report.Report) []string {
	ids := map[string]bool{}
	for _, x := range r.Results {
		if x.Verdict == assert.Fail {
			ids[x.Clause] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

func text(r report.Report) string {
	var b strings.Builder
	if f, err := report.Formats.Get("text"); err == nil {
		_ = f.Write(&b, r, report.Style{})
	}
	return b.String()
}
