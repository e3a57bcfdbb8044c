package interop

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// long has the waits grow to 64 s, which takes real time minutes, one client after the other:
// go test ./suites/interop -run SpeedChangesNoVerdict -long -runs 20 -parallel 1 -timeout 3h, and with -loaded.
var long = flag.Bool("long", false, "let clients at speed wait for up to 64 s, and run every scenario on a busy machine")

var loadedCores = flag.Bool("loaded", false, "keep every core busy while clients are judged at speed")

const speedContract = `
name: speed
attempts: {max: 8, within: 5m}
backoff: {initial: 1s, multiplier: 2, max: 64s, jitter: none}
`

const speedScenario = `
name: speed
summary: Down for good.
judges: [retry-cap, min-spacing, backoff-growth, delay-cap, total-deadline, no-retry-4xx, client-rate]
limit: 5m
clients: 6
rules:
  - fault: {status: {code: 503}}
`

func loaded(t *testing.T, scenario string) (*assert.Contract, scenarios.Scenario) {
	t.Helper()
	c, err := assert.LoadContract("contract.yaml", []byte(speedContract))
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Load("scenario.yaml", []byte(scenario))
	if err != nil {
		t.Fatal(err)
	}
	return c, s
}

// at judges a command at a speed and tells how long that took.
func at(t *testing.T, speed int, scenario string, argv ...string) (report.Report, time.Duration) {
	t.Helper()
	c, s := loaded(t, scenario)
	began := time.Now()
	r, err := contract.Examine(context.Background(), contract.Request{
		Client: driver.Command(argv...), Contract: c, Scenarios: []scenarios.Scenario{s}, Seed: 1, FailOn: assert.Major, Speed: speed,
	})
	if err != nil || len(r.Errors) > 0 {
		t.Fatal(err, r.Errors)
	}
	return r, time.Since(began)
}

// verdicts are those of the clauses.
func verdicts(r report.Report) map[string]assert.Verdict {
	all := map[string]assert.Verdict{}
	for _, x := range r.Results {
		all[x.Clause] = x.Verdict
	}
	return all
}

// speeders are commands that retry after the waits that are appended to them. Of Java, which takes a second to start, dozens of
// times, they are under -long.
func speeders(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{
		"python3": {"python3", "python/backoff.py", "{{url}}/"},
		"node":    {"node", "node/backoff.js", "{{url}}/"},
	}
	if *long {
		classes := t.TempDir()
		if out, err := exec.Command("javac", "-d", classes, "java/Backoff.java").CombinedOutput(); err != nil {
			t.Logf("without Java, which takes javac and java: %v %s", err, out)
		} else {
			all["java"] = []string{"java", "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", classes, "Backoff", "{{url}}/"}
		}
	}
	return all
}

// Real time and auto say the same of each clause, of clients that keep the contract and of those that break it, by much or by as
// little as a fast clock hides: a first wait of 0.95 s where 1 s is agreed, and 3.8 s where it is 4 s.
func TestSpeedChangesNoVerdict(t *testing.T) {
	t.Parallel()
	if _, err := driver.Faketime(); err != nil {
		t.Skip(err)
	}
	growing, constant := "1 2 4 8", "1 1 1 1"
	if *long {
		growing, constant = "1 2 4 8 16 32 64", "8 8 8 8 8 8 8"
	}
	rows := map[string][]string{}
	with := func(argv []string, waits string) []string { return slices.Concat(argv, strings.Fields(waits)) }
	commands := speeders(t)
	for name, argv := range commands {
		rows[name+" polite"] = with(argv, growing)
		if *long || name == "python3" {
			rows[name+" constant"] = with(argv, constant)
		}
	}
	rows["python3 early"] = with(commands["python3"], strings.Replace(growing, "1 ", "0.95 ", 1))
	rows["python3 below the curve"] = with(commands["python3"], strings.Replace(growing, " 4 ", " 3.8 ", 1))
	rows["curl polite"] = []string{"curl", "-sS", "--retry", fmt.Sprint(len(strings.Fields(growing))), "{{url}}/"}
	rows["curl constant"] = []string{"curl", "-sS", "--retry", fmt.Sprint(len(strings.Fields(growing))), "--retry-delay", strings.Fields(constant)[0], "{{url}}/"}
	// A late machine makes an early client seem to keep the contract in real time too: of these it is known what they break.
	broken := map[string]string{"python3 early": "min-spacing"}
	for name, argv := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skipf("%s is not installed", argv[0])
			}
			if *loadedCores {
				defer spinning(t)()
			}
			real, took := at(t, 1, speedScenario, argv...)
			for range *runs {
				fast, hasty := at(t, contract.Auto, speedScenario, argv...)
				t.Logf("real time %v, auto %v (%.1f times faster) at speed %d; notes %q; waits %s and %s, %.1f %% apart", took.Round(time.Millisecond),
					hasty.Round(time.Millisecond), float64(took)/float64(hasty), fast.Speed, fast.Notes, medians(real), medians(fast), apart(real, fast))
				same(t, real, fast, broken[name])
			}
		})
	}
}

// spinning keeps every core busy with processes of their own until stop.
func spinning(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var all []*exec.Cmd
	for range runtime.NumCPU() {
		spin := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := spin.Start(); err != nil {
			t.Error(err)
			continue
		}
		all = append(all, spin)
	}
	return func() {
		cancel()
		for _, spin := range all {
			_ = spin.Wait() // it was killed
		}
	}
}

// apart is how many percent the median waits of two reports differ by at most.
func apart(a, b report.Report) float64 {
	most := 0.0
	for i := range min(len(a.Waits), len(b.Waits)) {
		most = max(most, 100*math.Abs(b.Waits[i].MedianMS/a.Waits[i].MedianMS-1))
	}
	return most
}

// medians are the median waits before each retry, in milliseconds.
func medians(r report.Report) string {
	var all []string
	for _, w := range r.Waits {
		all = append(all, fmt.Sprintf("%.0f", w.MedianMS))
	}
	return strings.Join(all, " ")
}

// same compares verdicts. What noise leaves undecided in one run is no contradiction, nor is the breach that there is if real
// time did not show it.
func same(t *testing.T, real, fast report.Report, broken string) {
	t.Helper()
	got := verdicts(fast)
	for id, want := range verdicts(real) {
		switch {
		case got[id] == want:
		case got[id] == assert.Inconclusive || want == assert.Inconclusive:
			t.Logf("%s: %v in real time, %v by auto", id, want, got[id])
		case id == broken && got[id] == assert.Fail:
			t.Logf("%s: real time did not show the breach", id)
		default:
			t.Errorf("%s: %v in real time, %v by auto\n%s\n%s", id, want, got[id], text(real), text(fast))
		}
	}
}

const dated = `
name: dated
summary: Come back at a time.
judges: [retry-after-date]
rules:
  - per: client
    when: {first: 1}
    fault: {status: {code: 503, retry-after: {date: 20s}}}
`

// Who waits until the date by the fast clock keeps it; who comes 2 s early by that clock breaks it.
func TestSpeedKeepsDates(t *testing.T) {
	if _, err := driver.Faketime(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	for word, want := range map[string]assert.Verdict{"date": assert.Pass, "early": assert.Fail} {
		t.Run(word, func(t *testing.T) {
			t.Parallel() // with the other word only
			r, _ := at(t, 20, dated, "python3", "python/backoff.py", "{{url}}/", word)
			if got := verdicts(r)["retry-after-date"]; got != want {
				t.Errorf("%v, want %v\n%s", got, want, text(r))
			}
			if r.Speed != 20 {
				t.Errorf("ran at speed %d: %q", r.Speed, r.Notes)
			}
		})
	}
}

// A breach that a machine could have made stands at a fixed speed too, once two runs show it.
func TestSpeedConfirmsABreach(t *testing.T) {
	if _, err := driver.Faketime(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	r, _ := at(t, 20, speedScenario, "python3", "python/backoff.py", "{{url}}/", "1", "90")
	for _, x := range r.Results {
		if x.Clause == "delay-cap" && (x.Verdict != assert.Fail || !strings.Contains(x.Detail, "a second run showed it too")) {
			t.Errorf("%+v\n%s", x, text(r))
		}
	}
}

// A scenario for clients that keep working does not run for one that ends after a call, at any speed.
func TestSpeedLeavesOutWork(t *testing.T) {
	t.Parallel()
	if _, err := driver.Faketime(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	work, err := scenarios.Get("breaker")
	if err != nil {
		t.Fatal(err)
	}
	_, down := loaded(t, speedScenario)
	r, err := contract.Examine(t.Context(), contract.Request{
		Client: driver.Command("python3", "python/backoff.py", "{{url}}/", "1"), Scenarios: []scenarios.Scenario{work, down},
		Seed: 1, FailOn: assert.Major, Speed: 20,
	})
	if err != nil || len(r.Errors) > 0 || len(r.Scenarios) != 1 {
		t.Errorf("%d scenarios ran: %v %v", len(r.Scenarios), err, r.Errors)
	}
}

// A program that nothing can be loaded into is recognised and judged by real time.
func TestSpeedLeavesStaticProgramsAlone(t *testing.T) {
	if _, err := driver.Faketime(); err != nil {
		t.Skip(err)
	}
	static := filepath.Join(t.TempDir(), "static")
	build := exec.Command("go", "build", "-o", static, "../driver/testdata/static")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, speed := range []int{50, contract.Auto} {
		t.Run(fmt.Sprint(speed), func(t *testing.T) {
			t.Parallel()
			r, _ := at(t, speed, speedScenario, static, "{{url}}/")
			notes := strings.Join(r.Notes, "\n")
			if r.Speed > 1 || !strings.Contains(notes, "static") || !strings.Contains(notes, "everything ran in real time") {
				t.Errorf("speed %d, notes %q", r.Speed, r.Notes)
			}
			for id, want := range map[string]assert.Verdict{"min-spacing": assert.Pass, "retry-cap": assert.Pass, "delay-cap": assert.Pass} {
				if got := verdicts(r)[id]; got != want {
					t.Errorf("%s: %v, want %v\n%s", id, got, want, text(r))
				}
			}
		})
	}
}

// Where a single scenario is run it shows by itself whether the client obeys a faster clock; one that does not is judged by real time.
func TestSpeedIsFoundByTheRunItself(t *testing.T) {
	if _, err := driver.Faketime(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	for name, row := range map[string]struct {
		argv []string
		fast bool
		note string
	}{
		"obeys":         {[]string{"python3", "python/backoff.py", "{{url}}/", "1", "2"}, true, ""},
		"defies":        {[]string{"env", "-u", "LD_PRELOAD", "python3", "python/backoff.py", "{{url}}/", "1", "2"}, false, "as the machine's clock has it"},
		"never retries": {[]string{"curl", "-sS", "{{url}}/"}, false, "does not retry a 503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := at(t, contract.Auto, speedScenario, row.argv...)
			notes := strings.Join(r.Notes, "\n")
			if r.Speed > 1 != row.fast || !strings.Contains(notes, row.note) || row.note != "" && !strings.Contains(notes, "everything ran in real time") {
				t.Errorf("speed %d, notes %q", r.Speed, r.Notes)
			}
			if got := verdicts(r); got["min-spacing"] == assert.Fail || got["retry-cap"] != assert.Pass {
				t.Error(text(r))
			}
		})
	}
}
