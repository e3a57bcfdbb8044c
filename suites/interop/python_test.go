package interop

import (
	"context"
	"flag"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// runs repeats the busy machine, -long has it run every scenario: go test ./suites/interop -run Busy -runs 20 -long.
var runs = flag.Int("runs", 1, "how often a polite client is judged on a busy machine")

func python(t *testing.T, script string) driver.Client {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	return driver.Command("python3", "python/"+script)
}

// timed are the scenarios in which a busy machine shows most: those about waits, time limits and overlaps.
var timed = []string{
	"429-retry-after-date", "429-retry-after-seconds", "503-burst", "503-retry-after", "cancelled", "fail-then-succeed", "flapping", "hang",
	"idle-close", "overload", "ratelimited", "reset-storm", "slow-responses",
}

// A polite client is never failed, however busy the machine is and however it stalls: at worst something stays undecided.
func TestBusyMachineRaisesNoFalseAlarm(t *testing.T) {
	client := python(t, "polite.py")
	var played []scenarios.Scenario // nil: all that suit it
	for _, name := range timed {
		s, err := scenarios.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if !*long {
			played = append(played, s)
		}
	}
	defer busy()()
	defer stalling(t)()
	var undecided, all int
	for range *runs {
		r, err := contract.Examine(context.Background(), contract.Request{Client: client, Scenarios: played, Seed: 1, FailOn: assert.Advisory})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Results {
			all++
			switch x.Verdict {
			case assert.Fail:
				t.Errorf("false alarm: %s in %s: %s", x.Clause, x.Scenario, x.Detail)
			case assert.Inconclusive:
				undecided++
				t.Logf("undecided: %s in %s: %s", x.Clause, x.Scenario, x.Detail)
			}
		}
		for _, e := range r.Errors {
			t.Errorf("not judged: %s", e)
		}
	}
	t.Logf("%d runs, %d of %d verdicts undecided (%.1f %%)", *runs, undecided, all, 100*float64(undecided)/float64(all))
}

// busy keeps every core at work until stop.
func busy() (stop func()) {
	var done atomic.Bool
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(func() {
			for spins := 0; !done.Load(); spins++ {
			}
		})
	}
	return func() { done.Store(true); all.Wait() }
}

// stalling has the server, with all that it knows of time, stand still for 250 ms every four seconds or so, until stop.
func stalling(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			select {
			case <-time.After(3*time.Second + rand.N(2*time.Second)):
				if err := exec.Command("sh", "-c", "kill -STOP $PPID; sleep 0.25; kill -CONT $PPID").Run(); err != nil {
					t.Logf("no stall: %v", err)
				}
			case <-ctx.Done():
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

// A loop without a delay is caught, and ended, within 5 s of its start.
func TestStormIsStopped(t *testing.T) {
	s, err := scenarios.Get("sustained-400")
	if err != nil {
		t.Fatal(err)
	}
	out, err := driver.Run(context.Background(), s, python(t, "loops_on_400.py"), driver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range out.Ends {
		if end.Stopped == "" || end.Took > 5*time.Second || end.Requests > 10*driver.DefaultStormLimit {
			t.Errorf("%s: %q after %v and %d requests", end.Client, end.Stopped, end.Took, end.Requests)
		}
	}
}
