package driver

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/scenarios"
)

// cancelling is a scenario whose caller cancels so long after the first request.
func cancelling(t *testing.T, rules string, after time.Duration) scenarios.Scenario {
	t.Helper()
	s := load(t, rules)
	s.Cancel = &scenarios.Cancel{After: after}
	return s
}

func TestCancelEndsTheContextOfFunctions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cause error
		var dated bool
		c := HTTPFunc("mine", func(ctx context.Context, h *http.Client, url string) error {
			time.Sleep(time.Second) // before its first request nobody cancels
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
			if err != nil {
				return err
			}
			_, dated = ctx.Deadline()
			_, err = h.Do(req)
			cause = context.Cause(ctx)
			time.Sleep(20 * time.Second) // and it is not hurried afterwards
			return err
		})
		out := mustRun(t, cancelling(t, "rules: [{name: trouble, fault: hang}]\n", 200*time.Millisecond), c, Options{Memory: true})
		end, e := out.Ends[0], out.History.Entries[0]
		if end.Cancelled != 1200*time.Millisecond || e.Gone != 1200*time.Millisecond || end.Stopped != "" || end.Took != 21200*time.Millisecond {
			t.Errorf("cancelled at %v, left at %v, stopped: %q, took %v", end.Cancelled, e.Gone, end.Stopped, end.Took)
		}
		if cause != context.Canceled || dated {
			t.Errorf("the context ended by %v, told a deadline before: %v", cause, dated)
		}
	})
}

func TestNobodyCancelsWhatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := HTTPFunc("quick", func(ctx context.Context, h *http.Client, url string) error {
			resp, err := h.Get(url)
			if err == nil {
				resp.Body.Close()
			}
			return err
		})
		out := mustRun(t, cancelling(t, "rules: [{name: trouble, fault: 503}]\n", 200*time.Millisecond), c, Options{Memory: true})
		if end := out.Ends[0]; end.Cancelled != 0 {
			t.Errorf("cancelled at %v", end.Cancelled)
		}
	})
}

func TestCancelTerminatesCommands(t *testing.T) {
	need(t, "sh", "curl", "sleep")
	for _, c := range []struct {
		name, script string
		requests     int
		signal       bool
	}{
		{"heeds it", "curl -s $RETRYGATE_URL; sleep 3; curl -s $RETRYGATE_URL", 1, true},
		{"ignores it", "trap '' TERM; curl -s $RETRYGATE_URL; sleep 1; curl -s $RETRYGATE_URL", 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := mustRun(t, cancelling(t, "rules: [{name: trouble, fault: 503}]\n", 100*time.Millisecond), Command("sh", "-c", c.script), Options{})
			end := out.Ends[0]
			if end.Requests != c.requests || end.Cancelled < 100*time.Millisecond || strings.Contains(end.String(), "terminated") != c.signal || end.Stopped != "" {
				t.Errorf("%d requests, cancelled at %v, %s", end.Requests, end.Cancelled, end)
			}
		})
	}
}
