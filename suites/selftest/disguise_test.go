package selftest

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// get asks once and gives the status, 0 if there was none.
func get(ctx context.Context, h *http.Client, url string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	resp, err := h.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// job asks once for each try, until an answer is not to be retried, under one id.
func job(ctx context.Context, h *http.Client, url, id string, retry func(status int) bool) {
	for range 3 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return
		}
		req.Header.Set("X-Job-Id", id)
		resp, err := h.Do(req)
		if err != nil {
			return
		}
		resp.Body.Close()
		if !retry(resp.StatusCode) {
			return
		}
		time.Sleep(time.Second)
	}
}

// Repeats are repeats under any name, and what looks like one may be none: what a client does while all is well tells them
// apart, or tells that they cannot be told apart.
func TestRepeatsInDisguise(t *testing.T) {
	type call = func(ctx context.Context, h *http.Client, url string)
	renamed := func(times int) call {
		return func(ctx context.Context, h *http.Client, url string) {
			for i := range times {
				if get(ctx, h, url+"/orders/"+strconv.Itoa(i)) < 400 || ctx.Err() != nil {
					return
				}
			}
		}
	}
	for _, test := range []struct {
		name   string
		call   call
		clause string
		want   assert.Verdict
	}{
		{"a path for each attempt, ninety times", renamed(90), "amplification-factor", assert.Fail},
		{"a path for each attempt, five times", renamed(5), "no-retry-4xx", assert.Inconclusive},
		{"the same thing twice, as always", func(ctx context.Context, h *http.Client, url string) {
			get(ctx, h, url+"/orders")
			time.Sleep(time.Second)
			get(ctx, h, url+"/orders")
		}, "no-retry-4xx", assert.Inconclusive},
		{"the same thing twice, and once more after it failed", func(ctx context.Context, h *http.Client, url string) {
			get(ctx, h, url+"/orders")
			if get(ctx, h, url+"/orders") >= 400 {
				get(ctx, h, url+"/orders")
			}
		}, "no-retry-4xx", assert.Fail},
		{"the same thing twice, each under an id that the harness has to find", func(ctx context.Context, h *http.Client, url string) {
			for _, id := range []string{"1", "2"} {
				job(ctx, h, url+"/orders", url+id, func(status int) bool { return status >= 500 })
			}
		}, "no-retry-4xx", assert.Pass},
		{"so, and each repeated although it was wrong", func(ctx context.Context, h *http.Client, url string) {
			for _, id := range []string{"1", "2"} {
				job(ctx, h, url+"/orders", url+id, func(status int) bool { return status >= 400 })
			}
		}, "no-retry-4xx", assert.Fail},
		{"a report of the failure elsewhere", func(ctx context.Context, h *http.Client, url string) {
			if get(ctx, h, url+"/orders/7") >= 400 {
				get(ctx, h, url+"/log/error")
			}
		}, "no-retry-4xx", assert.Pass},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client := driver.HTTPFunc(test.name, func(ctx context.Context, h *http.Client, url string) error {
				test.call(ctx, h, url)
				return nil
			})
			s, err := scenarios.Get("sustained-400")
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				r, err := contract.Examine(context.Background(), contract.Request{
					Client: client, Scenarios: []scenarios.Scenario{s}, Memory: true, Seed: 1, FailOn: assert.Major,
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, x := range r.Results {
					if x.Clause == test.clause && x.Verdict != test.want {
						t.Errorf("%s is %v, want %v: %s", x.Clause, x.Verdict, test.want, x.Detail)
					}
				}
			})
		})
	}
}
