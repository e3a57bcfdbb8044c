package driver_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// fast is the options for a command whose clock runs so many times faster. It skips the test where that is not possible.
func fast(t *testing.T, speed int) driver.Options {
	t.Helper()
	if _, err := driver.Faketime(); err != nil {
		t.Skip(err)
	}
	return driver.Options{Speed: speed}
}

// waits are the gaps between a client's attempts.
func waits(t *testing.T, o *driver.Outcome) []time.Duration {
	t.Helper()
	var gaps []time.Duration
	for _, c := range assert.Calls(o.History.Entries, assert.Key{OneCall: true, Run: &o.Run}) {
		for i := 1; i < len(c.Attempts); i++ {
			gaps = append(gaps, c.Gap(i-1))
		}
	}
	return gaps
}

func load(t *testing.T, text string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Load("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// need skips the test where a program is missing.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

const outage = `{name: outage, summary: s, judges: [retry-cap], rules: [{fault: 503}]}`

// busy is how long a client may take for itself between two requests, on a machine with many other things to do.
const busy = 2 * time.Second

// Every program that waits shows the server the waits that it meant, in a fraction of the time: 1, 2, 4 and 8 s.
func TestCommandsLiveOnAFasterClock(t *testing.T) {
	o := fast(t, 20)
	o.Enough = -1
	for name, argv := range map[string][]string{
		"curl":    {"curl", "-sS", "--retry", "4", "{{url}}/"},
		"sh":      {"sh", "-c", `for wait in 1 2 4 8 0; do curl -s "$RETRYGATE_URL/" >/dev/null; sleep $wait; done`},
		"python3": {"python3", "-c", pythonBackoff},
		"node":    {"node", "-e", nodeBackoff},
	} {
		t.Run(name, func(t *testing.T) {
			need(t, argv[0])
			out, err := driver.Run(t.Context(), load(t, outage), driver.Command(argv...), o)
			if err != nil {
				t.Fatal(err)
			}
			got := waits(t, out)
			t.Log(got)
			if len(got) != 4 {
				t.Fatalf("%d waits: %v; %v", len(got), got, out.Ends[0].Output)
			}
			for i, wait := range got {
				want := time.Second << i
				if wait < want-want/50 || wait > want+20*busy {
					t.Errorf("wait %d took %v, want %v", i+1, wait, want)
				}
			}
			if !out.Run.Noise.Known() || out.Took < 15*time.Second {
				t.Errorf("took %v, noise %+v", out.Took, out.Run.Noise)
			}
		})
	}
}

const pythonBackoff = `
import os, time, urllib.request
for wait in (1, 2, 4, 8, 0):
    try:
        urllib.request.urlopen(os.environ["RETRYGATE_URL"]).read()
    except Exception as e:
        time.sleep(wait)
`

// Clients that share a process share its clock, which is the server's.
func TestASharedProcessLivesOnAFasterClock(t *testing.T) {
	o := fast(t, 20)
	o.Enough, o.Clients, o.Limit = -1, 3, time.Hour
	need(t, "curl")
	calls := `while read -r id url; do (for wait in 1 2 4 8 0; do curl -s "$url/" >/dev/null; sleep $wait; done; echo "$id") & done; wait`
	out, err := driver.Run(t.Context(), load(t, outage), driver.CommandShared("sh", "-c", calls), o)
	if err != nil {
		t.Fatal(err)
	}
	got := waits(t, out)
	if len(got) != 3*4 {
		t.Fatalf("%d waits: %v; %v, %v", len(got), got, out.Ends[0].Output, out.Notes)
	}
	for i, wait := range got {
		want := time.Second << (i % 4)
		if wait < want-want/50 || wait > want+20*busy {
			t.Errorf("wait %d took %v, want %v", i+1, wait, want)
		}
	}
	for _, e := range out.Ends {
		if e.Exit.Err != nil || e.Stopped != "" || e.Took < 15*time.Second {
			t.Errorf("%+v", e)
		}
	}
}

const nodeBackoff = `
(async () => {
  for (const wait of [1, 2, 4, 8, 0]) {
    await fetch(process.env.RETRYGATE_URL).then(r => r.text());
    await new Promise(done => setTimeout(done, wait * 1000));
  }
})()`

// A command and its children have one clock, the server's: dates mean to them what they mean to the server.
func TestChildrenShareTheServersClock(t *testing.T) {
	o := fast(t, 50)
	o.Limit = time.Hour
	need(t, "curl")
	tell := `curl -s "$RETRYGATE_URL/$(date +%s)" >/dev/null; sleep 60; sh -c 'curl -s "$RETRYGATE_URL/$(date +%s)" >/dev/null'`
	out, err := driver.Run(t.Context(), load(t, outage), driver.Command("sh", "-c", tell), o)
	if err != nil {
		t.Fatal(err)
	}
	entries := out.History.Entries
	if len(entries) != 2 || entries[1].At-entries[0].End() < time.Minute {
		t.Fatalf("%+v", entries)
	}
	for _, e := range entries {
		s, err := strconv.ParseInt(strings.TrimPrefix(e.Path, "/"), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		told, arrived := time.Unix(s, 0), out.History.Began.Add(e.At)
		if behind := arrived.Sub(told); behind < 0 || behind > time.Second+50*busy {
			t.Errorf("the client says %v, and the server %v", told, arrived)
		}
	}
}

func TestOnlyCommandsRunFaster(t *testing.T) {
	client := driver.Func("go", func(context.Context, string) error { return nil })
	if _, err := driver.Run(t.Context(), load(t, outage), client, driver.Options{Speed: 2}); err == nil || !strings.Contains(err.Error(), "virtual time") {
		t.Errorf("a Go function: %v", err)
	}
}

// A trial that cannot begin ends: neither side waits for the other.
func TestTrialThatCannotBegin(t *testing.T) {
	if _, err := driver.Faketime(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := driver.Obeys(ctx, driver.Command("sleep", "60"), driver.Options{}, 1)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a trial that was given up says nothing")
		}
	case <-time.After(20 * time.Second):
		t.Fatal("it has not ended after 20 s")
	}
}

func TestNothingIsLeftInSharedMemory(t *testing.T) {
	said := filepath.Join(t.TempDir(), "said")
	client := driver.Command("sh", "-c", `printf %s "$FAKETIME_SHARED" >"$0"; ls /dev/shm >>"$0"`, said)
	if _, err := driver.Run(t.Context(), load(t, outage), client, fast(t, 20)); err != nil {
		t.Fatal(err)
	}
	during, err := os.ReadFile(said)
	if err != nil {
		t.Fatal(err)
	}
	name := "retrygate-" + driver.Harness
	if strings.Count(string(during), name) < 3 { // told twice, and listed
		t.Errorf("the client is told its time otherwise: %s", during)
	}
	if left, _ := filepath.Glob("/dev/shm/*" + name + "*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestWhoObeysAFasterClock(t *testing.T) {
	fast(t, 2)
	static := filepath.Join(t.TempDir(), "static")
	build := exec.Command("go", "build", "-o", static, "./testdata/static")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, row := range map[string]struct {
		argv  []string
		obeys bool
		why   string
	}{
		"curl":    {[]string{"curl", "-sS", "--retry", "4", "{{url}}/"}, true, ""},
		"python3": {[]string{"python3", "-c", pythonBackoff}, true, ""},
		"node":    {[]string{"node", "-e", nodeBackoff}, true, ""},
		"static":  {[]string{static, "{{url}}"}, false, "statically linked"},
		"none":    {[]string{"curl", "-sS", "{{url}}/"}, false, "does not retry a 503"},
		"hot":     {[]string{"python3", "-c", strings.ReplaceAll(pythonBackoff, "(1, 2, 4, 8, 0)", "(0, 0, 0)")}, false, "waits for nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			need(t, row.argv[0])
			p, err := driver.Obeys(t.Context(), driver.Command(row.argv...), driver.Options{}, 2)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v, speed %d", p, p.Speed())
			if row.obeys && (strings.Contains(p.Why, "as the machine's clock has it") && p.Wait < 3*busy || strings.Contains(p.Why, "may be too busy")) {
				t.Skip("the machine has too much else to do to show it")
			}
			if p.Obeys != row.obeys || !strings.Contains(p.Why, row.why) || p.Obeys != (p.Speed() > 1) {
				t.Errorf("%+v, want %v because it %s", p, row.obeys, row.why)
			}
		})
	}
}
