package selftest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// What the platform sends again by itself, on a kept-alive connection that closed under a request, is one call and two
// requests in the report, and is not held against the client's own policy (WireMock.Net issue 279). The same two requests are when the
// client sent the second.
func TestPlatformReplaysAreReportedAndNotCharged(t *testing.T) {
	s, err := scenarios.Load("closed.yaml", []byte(`name: closed
summary: The connection is closed under the first order.
judges: [retry-cap, min-spacing, idempotent-only]
clients: 1
rules:
  - {name: closed, match: {path: /order}, per: client, when: {first: 1}, fault: close}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, method string
		fresh        bool // a connection for each request, on which no platform tries again
		tries        int  // of the client's own policy
		requests     int
		replays      int
		breaks       string
	}{
		{"the platform tries again", http.MethodGet, false, 1, 2, 1, ""},
		{"the platform may not, and nobody does", http.MethodPost, false, 1, 1, 0, ""},
		{"the client does, at once", http.MethodGet, true, 2, 2, 0, "min-spacing"},
		{"the client does, with a write", http.MethodPost, true, 2, 2, 0, "min-spacing idempotent-only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := driver.HTTPFunc(c.name, func(ctx context.Context, h *http.Client, url string) error {
				send(ctx, h, http.MethodGet, url+"/warm", c.fresh)
				for range c.tries {
					if send(ctx, h, c.method, url+"/order", c.fresh) {
						break
					}
				}
				return nil
			})
			synctest.Test(t, func(t *testing.T) {
				r, err := contract.Examine(context.Background(), contract.Request{
					Client: client, Scenarios: []scenarios.Scenario{s}, Memory: true, Seed: 1, FailOn: assert.Major,
				})
				if err != nil {
					t.Fatal(err)
				}
				checkReplay(t, r, c.requests, c.replays, c.breaks)
			})
		})
	}
}

func checkReplay(t *testing.T, r report.Report, requests, replays int, breaks string) {
	t.Helper()
	ran, calls := r.Scenarios[0], 0
	for _, g := range ran.Calls {
		calls += g.Calls
	}
	if calls != 2 || ran.Requests != 1+requests || ran.Uncharged["resend"] != replays {
		t.Errorf("%d calls, %d requests, %v; want 2 calls, %d requests, %d replays", calls, ran.Requests, ran.Uncharged, 1+requests, replays)
	}
	var broken []string
	for _, x := range r.Results {
		if x.Verdict == assert.Fail {
			broken = append(broken, x.Clause)
		}
	}
	if got := strings.Join(broken, " "); got != breaks {
		t.Errorf("breaks %q, want %q", got, breaks)
	}
	text, err := report.Formats.Get("text")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := text.Write(&b, r, report.Style{}); err != nil {
		t.Fatal(err)
	}
	if says := strings.Contains(b.String(), "1 request that the transport sent again: not charged"); says != (replays == 1) {
		t.Errorf("the report says of replays:\n%s", b.String())
	}
}

// send reports whether an answer came.
func send(ctx context.Context, h *http.Client, method, url string, fresh bool) bool {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return false
	}
	req.Close = fresh
	resp, err := h.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body) // an answer that was not read keeps no connection alive
	return err == nil
}
