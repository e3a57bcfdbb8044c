package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestClassesOfNetworkFailures(t *testing.T) {
	for _, test := range []struct {
		name  string
		entry journal.Entry
		want  string // "" for no failure
		maybe bool   // it may have been processed
	}{
		{"answered", journal.Entry{Method: "GET", Status: 503}, "", true},
		{"open", journal.Entry{Method: "GET", Open: true}, "", false},
		{"turned away", journal.Entry{Conn: 1, Cut: true, Rule: "r", Fault: "refused"}, "refused", false},
		{"turned away on a kept connection", journal.Entry{Method: "GET", Cut: true, Rule: "r", Fault: "refused"}, "reset", true},
		{"reset within the head", journal.Entry{Conn: 1, Cut: true, Rule: "r", Fault: "early-reset"}, "reset", false},
		{"reset", journal.Entry{Method: "GET", Cut: true, Fault: "reset"}, "reset", true},
		{"no answer in time", journal.Entry{Method: "GET", Gone: 1, Fault: "hang"}, "timeout", true},
		{"no greeting in time", journal.Entry{Conn: 1, Gone: 1, Rule: "r", Fault: "silent"}, "timeout", false},
		{"cut short", journal.Entry{Method: "GET", Status: 200, Cut: true, Fault: "truncate"}, "truncated", true},
		{"left within the body", journal.Entry{Method: "GET", Status: 200, Gone: 1}, "timeout", true},
		{"a refused stream", journal.Entry{Method: "POST", Cut: true, Unprocessed: true}, "unprocessed", false},
		{"a certificate that the client refused", journal.Entry{Conn: 1, Cut: true, Rule: "r", Fault: "certificate"}, "certificate", false},
		{"nonsense", journal.Entry{Method: "GET", Cut: true, Fault: "latency+garbage"}, "malformed", true},
	} {
		class, failed := assert.ClassOf(test.entry)
		if failed != (test.want != "") || failed && class.String() != test.want {
			t.Errorf("%s: %v, %v; want %q", test.name, class, failed, test.want)
		}
		if got := assert.MaybeProcessed(test.entry); got != test.maybe {
			t.Errorf("%s: may have been processed: %v", test.name, got)
		}
	}
}

// What a contract says of one class of failure binds the client, and of that class only.
func TestContractsBindNetworkFailures(t *testing.T) {
	resets := func(n int) *history.Builder {
		h := history.New()
		for k := range n {
			h.Cut(ns(k)*s, ms)
		}
		return h
	}
	timeouts := history.New().Left(0, s).Left(3*s, s)
	for _, test := range []struct {
		name, rows string
		history    *history.Builder
		want       assert.Verdict
		detail     string
	}{
		{"never", "{reset: never}", resets(2), assert.Fail, "attempt 2 came 999 ms after a connection that broke without an answer (reset); the contract says never"},
		{"never, and kept", "{network: never}", resets(1), assert.Pass, ""},
		{"once", "{reset: once}", resets(3), assert.Fail,
			"attempt 3 came 999 ms after a connection that broke without an answer (reset); the contract says once at most, and this was the second time"},
		{"once, and kept", "{reset: once}", resets(2), assert.Pass, ""},
		{"another class", "{timeout: never, network: backoff}", resets(3), assert.Pass, ""},
		{"the class itself", "{timeout: never, network: backoff}", timeouts, assert.Fail,
			"attempt 2 came 2 s after the client had given up on the one before (timeout); the contract says never"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := load(t, "responses: "+test.rows+"\n")
			calls := assert.Calls(test.history.Entries(), assert.Key{OneCall: true, Table: c.Responses, Run: &assert.Run{Ended: true, Noise: calm}})
			got := assert.Judge(c, []string{"retry-cap"}, calls)[0]
			if got.Verdict != test.want || test.detail != "" && got.Detail != test.detail {
				t.Errorf("%s: %s\nwant %s: %s", got.Verdict, got.Detail, test.want, test.detail)
			}
		})
	}
}

// A contract may take a redirect for a failure, or a 202 for the word to come back.
func TestContractsSayWhatFails(t *testing.T) {
	judge := func(rows, clause string, h *history.Builder) assert.Result {
		c := load(t, "responses: "+rows+"\nattempts: {max: 3}\n")
		return assert.Judge(c, []string{clause}, assert.Calls(h.Entries(), assert.Key{OneCall: true, Table: c.Responses, Run: &assert.Run{Ended: true, Noise: calm}}))[0]
	}
	polls := func() *history.Builder { return history.New().Retries(0, 202, s, s).Attempt(4*s, ms, 200) }
	for _, test := range []struct {
		name, rows, clause string
		history            *history.Builder
		want               assert.Verdict
	}{
		{"a 202 is a success", "{}", "stop-after-success", polls(), assert.Fail},
		{"a 202 asks to come back", "{202: backoff}", "stop-after-success", polls(), assert.Pass},
		{"redirects are followed", "{503: backoff}", "retry-cap", history.New().Retries(0, 302, s, s, s).Attempt(9*s, ms, 503), assert.Pass},
		{"redirects are failures", "{3xx: backoff}", "retry-cap", history.New().Retries(0, 302, s, s, s), assert.Fail},
		{"redirects are the end", "{3xx: never}", "no-retry-4xx", history.New().Retries(0, 302, s), assert.Fail},
	} {
		if got := judge(test.rows, test.clause, test.history); got.Verdict != test.want {
			t.Errorf("%s: %s: %s", test.name, got.Verdict, got.Detail)
		}
	}
}

func TestSchedules(t *testing.T) {
	d := load(t, "backoff: {schedule: [5s, 5m, 30m], jitter: {proportional: 0.2}}\n").Backoff
	for k, want := range map[int][3]time.Duration{
		1: {5 * s, 4 * s, 6 * s}, 2: {5 * time.Minute, 4 * time.Minute, 6 * time.Minute}, 4: {30 * time.Minute, 24 * time.Minute, 36 * time.Minute},
	} {
		if got := [3]time.Duration{d.Delay(k), d.Floor(k), d.Ceiling(k)}; got != want {
			t.Errorf("wait %d: %v, want %v", k, got, want)
		}
	}
	if d.MinGrowth() != 1.5 || d.Longest() != 30*time.Minute {
		t.Errorf("growth %v, longest %v", d.MinGrowth(), d.Longest())
	}
	if d = load(t, "backoff: {schedule: [5s, 5m], jitter: full}\n").Backoff; d.Floor(2) != 0 {
		t.Error("full jitter was agreed, so that a short wait is lawful")
	}
	if d = load(t, "profile: webhook\n").Backoff; d.Floor(2) != 150*s {
		t.Errorf("with any jitter half of each wait is the least, not %v", d.Floor(2))
	}
	if d = load(t, "profile: webhook\nbackoff: {initial: 1s, multiplier: 2}\n").Backoff; d.Delay(3) != 4*s || d.Schedule != nil {
		t.Errorf("computed waits stand in the place of the profile's schedule: %+v", d)
	}
}

// Each clause about waits follows the schedule, wait by wait.
func TestClausesFollowTheSchedule(t *testing.T) {
	c := load(t, "attempts: {max: 5, within: unlimited}\nbackoff: {schedule: [5s, 1m, 10m], jitter: {proportional: 0.2}}\n")
	for _, test := range []struct {
		name, clause string
		waits        []time.Duration
		want         assert.Verdict
	}{
		{"as agreed", "backoff-growth", []time.Duration{5 * s, 55 * s, 10 * time.Minute}, assert.Pass},
		{"the second too short", "backoff-growth", []time.Duration{5 * s, 20 * s, 10 * time.Minute}, assert.Fail},
		{"the first too short", "min-spacing", []time.Duration{s, 55 * s, 10 * time.Minute}, assert.Fail},
		{"the second too long", "delay-cap", []time.Duration{5 * s, 5 * time.Minute, 10 * time.Minute}, assert.Fail},
		{"the last repeats", "delay-cap", []time.Duration{5 * s, time.Minute, 11 * time.Minute, 11 * time.Minute}, assert.Pass},
	} {
		h := clients(20, func(_ int, h *history.Builder) { h.Retries(0, 503, test.waits...) })
		calls := assert.Calls(h.Entries(), assert.Key{Horizon: c.Horizon(), Table: c.Responses, Run: &assert.Run{Ended: true, Noise: calm}})
		if len(calls) != 20 {
			t.Fatalf("%s: %d calls", test.name, len(calls))
		}
		if got := assert.Judge(c, []string{test.clause}, calls)[0]; got.Verdict != test.want {
			t.Errorf("%s: %s: %s", test.name, got.Verdict, got.Detail)
		}
	}
}
