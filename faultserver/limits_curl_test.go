package faultserver_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// curl meets the limits of a server on a fresh and on a reused connection, is told why, and is let in after the wait.
func TestLimitsForCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	for name, c := range map[string]struct {
		fault    fault.Spec
		args     string // URL stands for the server
		statuses []int
		prints   []string
		least    time.Duration // that curl takes
	}{
		"refused, with the reason": {limit(&fault.Ratelimit{Limits: []fault.Rate{{N: 1, Per: time.Hour}}}), "-i -d x URL URL", []int{200, 429},
			[]string{"Retry-After: 3600\r\n", "Content-Type: application/problem+json\r\n", "#quota-exceeded", "This client sent 1 request within 1h"}, 0},
		"let in after the wait": {limit(&fault.Ratelimit{Limits: []fault.Rate{{N: 1, Per: 2 * time.Second}}}), "--retry 1 -d x URL URL", []int{200, 429, 200},
			[]string{`{"status":"ok"}`}, 2 * time.Second},
		"one after the other": {fault.Of("capacity", &fault.Capacity{Service: 100 * time.Millisecond}), "--parallel --parallel-immediate URL URL URL", []int{200, 200, 200}, nil, 300 * time.Millisecond},
		"no room": {fault.Of("capacity", &fault.Capacity{Service: 2 * time.Second, Queue: new(0), RetryAfter: fault.Seconds(time.Minute)}), "-i --parallel --parallel-immediate URL URL", []int{200, 503},
			[]string{"Retry-After: 60\r\n", "its queue of 0 is full"}, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := faultserver.New()
			defer s.Close()
			url, err := s.Listen("127.0.0.1:0", "")
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Fault: c.fault}}}); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			printed, err := exec.CommandContext(t.Context(), curl, strings.Fields("-sS --no-progress-meter "+strings.ReplaceAll(c.args, "URL", url))...).CombinedOutput()
			if took := time.Since(start); err != nil || took < c.least {
				t.Errorf("%v after %v", err, took)
			}
			for _, want := range c.prints {
				if !strings.Contains(string(printed), want) {
					t.Errorf("no %q in\n%s", want, printed)
				}
			}
			var statuses []int
			for _, e := range s.Journal().Entries() {
				statuses = append(statuses, e.Status)
				if e.Open || e.Cut {
					t.Errorf("%+v", e)
				}
			}
			if strings.Contains(c.args, "--parallel") { // either may be first
				slices.Sort(statuses)
			}
			if !slices.Equal(statuses, c.statuses) {
				t.Errorf("statuses %v, want %v", statuses, c.statuses)
			}
		})
	}
}
