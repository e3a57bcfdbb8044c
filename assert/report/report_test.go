package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/retrygate/retrygate/assert"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func ms(v float64) *float64 { return &v }

// sample is curl --retry 3 under a few scenarios, made up by hand so that the golden files depend on nothing else.
func sample() Report {
	herd := []Witness{
		{Seq: 21, AtMS: 1012.4, Client: "c01", Method: "GET", Path: "/driver/status", Status: 503, GapMS: ms(1001.2), Fault: "status"},
	}
	for i := range 11 {
		herd = append(herd, Witness{
			Seq: uint64(22 + i), AtMS: 1012.6 + float64(i)/10, Client: "c02", Method: "GET", Path: "/driver/status", Status: 503,
			GapMS: ms(1001.3 + float64(i)/10), Fault: "status",
		})
	}
	r := Report{
		Version: "v0.1.0", FailOn: assert.Major, Seed: 1,
		Contract: Contract{Name: "driver-status", Profile: "strict"},
		Clients:  []Client{{Name: "curl", Command: []string{"curl", "-sS", "--retry", "3", "{{url}}/driver/status"}}},
		Scenarios: []Scenario{
			{Name: "503-burst", Clients: 20, Requests: 80, Seconds: 7.1, Fired: map[string]uint64{"outage": 80},
				Calls:     []assert.Grouping{{Rule: "key", By: "Idempotency-Key", Confidence: assert.Exact, Calls: 20}},
				Uncharged: map[string]int{"resend": 2, "redirect": 1}},
			{Name: "hang", Clients: 1, Requests: 1, Seconds: 15, Fired: map[string]uint64{"hang": 1},
				Calls: []assert.Grouping{{Rule: "match", Confidence: assert.Guessed, Calls: 1}},
				Notes: []string{"client-1 did not end within 15 s and was stopped", "client-2 did not end within 15 s and was stopped"}},
			{Name: "sustained-400", Clients: 3, Requests: 3, Seconds: 0.1, Fired: map[string]uint64{"bad": 3}},
		},
		Results: []Result{
			{Scenario: "503-burst", Clause: "jitter-present", Level: assert.Major, Verdict: assert.Fail,
				Detail: "20 clients that failed together came back within 4 ms of each other at every retry; the contract wants their waits to differ by at least 10 % of the wait, so that they do not hit the server in the same instant",
				Fix:    "add a random part to every wait, for example a random 0 to 50 % of it", Witness: herd},
			{Scenario: "flapping", Clause: "jitter-present", Level: assert.Major, Verdict: assert.Fail,
				Detail: "10 clients came back within 3 ms of each other"},
			{Scenario: "reset-storm", Clause: "retries-transient", Level: assert.Minor, Verdict: assert.Fail,
				Detail: "3 of 3 calls gave up after a connection reset without a second attempt",
				Fix:    "retry connection resets of requests that are safe to repeat"},
			{Scenario: "hang", Clause: "total-deadline", Level: assert.Major, Verdict: assert.Inconclusive,
				Detail: "the client was still waiting when it was stopped after 15 s"},
			{Scenario: "503-burst", Clause: "retry-cap", Level: assert.Critical, Verdict: assert.Pass, Detail: "at most 4 attempts a call"},
			{Scenario: "503-burst", Clause: "backoff-growth", Level: assert.Major, Verdict: assert.Pass, Detail: "the waits grow 2.0-fold"},
			{Scenario: "sustained-400", Clause: "no-retry-4xx", Level: assert.Critical, Verdict: assert.Pass, Detail: "no attempt after a 400"},
			{Scenario: "sustained-400", Clause: "min-spacing", Level: assert.Critical, Verdict: assert.NotExercised, Detail: "no call had a second attempt"},
			{Scenario: "503-burst", Clause: "min-spacing", Level: assert.Critical, Verdict: assert.Pass, Detail: "no wait under 1.00 s"},
			{Scenario: "503-burst", Clause: "idempotency-key-stable", Level: assert.Critical, Verdict: assert.NotExercised, Detail: "no request carried an idempotency key"},
			{Scenario: "503-burst", Clause: "body-identical", Level: assert.Major, Verdict: assert.NotExercised, Detail: "no request carried a body"},
			{Scenario: "503-burst", Clause: "a-clause", Level: assert.Minor, Verdict: assert.NotExercised, Detail: "no request carried a body"},
		},
		Waits: []Wait{
			{Scenario: "503-burst", Retry: 1, N: 20, MinMS: 1000.2, MedianMS: 1001.2, MaxMS: 1004.1},
			{Scenario: "503-burst", Retry: 2, N: 20, MinMS: 2000.2, MedianMS: 2001.2, MaxMS: 2003.1},
			{Scenario: "503-burst", Retry: 3, N: 20, MinMS: 4000.2, MedianMS: 4001.2, MaxMS: 4003.1},
			{Scenario: "429-retry-after-seconds", Retry: 1, N: 3, MinMS: 2001, MedianMS: 2050, MaxMS: 2400},
			{Scenario: "429-retry-after-seconds", Retry: 2, N: 3, MinMS: 2001, MedianMS: 2050, MaxMS: 2100},
		},
	}
	r.Conclude()
	return r
}

func TestGolden(t *testing.T) {
	troubled := sample()
	troubled.Results = nil
	troubled.Errors = []string{"no request reached the server in 503-burst; the client's output was:\ncurl: (3) \x1b[31mURL rejected\x1b[0m: No host part in the URL"}
	troubled.Conclude()

	rows := []struct {
		file, format string
		report       Report
		style        Style
	}{
		{"text.golden", "text", sample(), Style{}},
		{"text-80.golden", "text", sample(), Style{Width: 80}},
		{"text-color.golden", "text", sample(), Style{Color: true, Width: 80}},
		{"text-error.golden", "text", troubled, Style{}},
		{"markdown.golden", "markdown", sample(), Style{}},
		{"json.golden", "json", sample(), Style{}},
		{"json-empty.golden", "json", Report{}, Style{}},
	}
	for _, row := range rows {
		t.Run(row.file, func(t *testing.T) {
			format, err := Formats.Get(row.format)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := format.Write(&got, row.report, row.style); err != nil {
				t.Fatal(err)
			}
			golden(t, row.file, got.Bytes())
		})
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test ./assert/report -update", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; look at it, then run go test ./assert/report -update\ngot:\n%s", file, got)
	}
}
