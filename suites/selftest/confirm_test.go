package selftest

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/clients"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// TestTwoSidedBreachesNeedTwoRuns has a client march in step for its first calls only, as a stalled machine or chance may
// show it once.
func TestTwoSidedBreachesNeedTwoRuns(t *testing.T) {
	marching, err := clients.All.Get("no-jitter")
	if err != nil {
		t.Fatal(err)
	}
	polite, err := clients.All.Get("polite-get")
	if err != nil {
		t.Fatal(err)
	}
	const calls = 20 // of 503-burst
	for _, tt := range []struct {
		name  string
		march int64 // so many calls, after the one to a healthy server
		want  assert.Verdict
		words string
	}{
		{"once", calls, assert.Inconclusive, "one run in two broke it"},
		{"twice", 2 * calls, assert.Fail, "a second run showed it too"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n atomic.Int64
			r := examine(t, clients.Client{Name: tt.name, Call: func(ctx context.Context, h *http.Client, url string) error {
				if n.Add(1) <= 1+tt.march {
					return marching.Call(ctx, h, url)
				}
				return polite.Call(ctx, h, url)
			}}, "503-burst")
			for _, res := range r.Results {
				if res.Clause == "jitter-present" && (res.Verdict != tt.want || !strings.Contains(res.Detail, tt.words)) {
					t.Errorf("%s: %s; want %s", res.Verdict, res.Detail, tt.want)
				}
			}
		})
	}
}

// TestOnlyWhatFailsTheRunIsRunAgain has a client march in step where the contract only warns of it.
func TestOnlyWhatFailsTheRunIsRunAgain(t *testing.T) {
	marching, err := clients.All.Get("no-jitter")
	if err != nil {
		t.Fatal(err)
	}
	burst, err := scenarios.Get("503-burst")
	if err != nil {
		t.Fatal(err)
	}
	for level, again := range map[assert.Level]bool{assert.Minor: false, assert.Major: true} {
		terms, err := assert.LoadContract("terms", []byte("name: terms\nprofile: strict\nclauses: {jitter-present: {level: "+level.String()+"}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		var calls atomic.Int64
		call := func(ctx context.Context, h *http.Client, url string) error {
			calls.Add(1)
			return marching.Call(ctx, h, url)
		}
		synctest.Test(t, func(t *testing.T) {
			_, err = contract.Examine(context.Background(), contract.Request{
				Client: driver.HTTPFunc("marching", call), Contract: terms, Scenarios: []scenarios.Scenario{burst}, Seed: 1, Memory: true, FailOn: assert.Major,
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		if got := calls.Load() > 1+20; got != again {
			t.Errorf("%s: %d calls, run again: %v, want %v", level, calls.Load(), got, again)
		}
	}
}
