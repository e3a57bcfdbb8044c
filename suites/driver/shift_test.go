package driver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/scenarios"
)

// worked is a scenario that gives n calls, one each interval.
func worked(every time.Duration, n int) scenarios.Scenario {
	return scenarios.Scenario{Name: "work", Work: scenarios.Work{Every: every, Calls: n}}
}

// fetch sends one request over h and takes so long over it.
func fetch(ctx context.Context, h *http.Client, url string, takes time.Duration) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/driver/status", nil)
	if err != nil {
		return err
	}
	response, err := h.Do(request)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, response.Body)
	time.Sleep(takes)
	return response.Body.Close()
}

// TestWorkKeepsItsPace lets calls take longer than the time between them.
func TestWorkKeepsItsPace(t *testing.T) {
	for _, c := range []struct {
		name             string
		clients, workers int
		want             []time.Duration
	}{
		{"one client", 1, 0, []time.Duration{0, 100, 200, 300}},
		{"two clients", 2, 0, []time.Duration{0, 50, 100, 150, 200, 250, 300, 350}},
		{"too few workers", 1, 2, []time.Duration{0, 100, 250, 350}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := worked(100*time.Millisecond, 4)
				s.Clients, s.Work.Workers = c.clients, c.workers
				client := HTTPFunc("slow", func(ctx context.Context, h *http.Client, url string) error {
					return fetch(ctx, h, url, 250*time.Millisecond)
				})
				out := mustRun(t, s, client, Options{Memory: true})
				if len(out.History.Entries) != len(c.want) {
					t.Fatalf("%d requests, want %d", len(out.History.Entries), len(c.want))
				}
				calls := map[string]bool{}
				for i, e := range out.History.Entries {
					if e.At != c.want[i]*time.Millisecond {
						t.Errorf("request %d came at %v, want %v ms", i, e.At, int64(c.want[i]))
					}
					if !strings.HasPrefix(e.Call, e.Client+".") || calls[e.Call] {
						t.Errorf("%s is no id of a call of %s, or not its own", e.Call, e.Client)
					}
					calls[e.Call] = true
				}
				if given := out.Run.Given["client-1"]; len(given) != 4 || given[0] != out.History.Entries[0].At {
					t.Errorf("given: %v", given)
				}
				time.Sleep(time.Second)
			})
		})
	}
}

// TestWorkersRemember has each client count its calls.
func TestWorkersRemember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var started atomic.Int32
		client := HTTPWorker("counting", func() func(context.Context, *http.Client, string) error {
			started.Add(1)
			var calls atomic.Int32
			return func(ctx context.Context, h *http.Client, url string) error {
				return fetch(ctx, h, fmt.Sprint(url, "/", calls.Add(1)), 0)
			}
		})
		s := worked(time.Second, 3)
		s.Clients = 300
		out := mustRun(t, s, client, Options{Memory: true})
		paths := map[string]int{}
		for _, e := range out.History.Entries {
			paths[e.Path]++
		}
		if len(paths) != 3 || paths["/3/driver/status"] != 300 || started.Load() != 300 {
			t.Errorf("%v by %d clients", paths, started.Load())
		}
		time.Sleep(time.Second)
	})
}

func TestFailedCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		client := HTTPFunc("shaky", func(ctx context.Context, h *http.Client, url string) error {
			if calls.Add(1)%2 == 0 {
				panic("out of luck")
			}
			return fetch(ctx, h, url, 0)
		})
		out := mustRun(t, worked(time.Second, 4), client, Options{Memory: true})
		if got := out.Ends[0].String(); got != "ended with an error: 2 of 4 calls failed, the last with: shaky panicked: out of luck" {
			t.Error(got)
		}
		time.Sleep(time.Second)
	})
}

// TestWatchedClientIsLeftToItself stops a poller when it was seen long enough, which is no fault of its.
func TestWatchedClientIsLeftToItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		poller := HTTPFunc("poller", func(ctx context.Context, h *http.Client, url string) error {
			for ctx.Err() == nil {
				_ = fetch(ctx, h, url, 0)
				until(ctx, time.Now().Add(time.Second))
			}
			return ctx.Err()
		})
		out := mustRun(t, scenarios.Scenario{Name: "watched", Watch: 10500 * time.Millisecond}, poller, Options{Memory: true})
		if n := len(out.History.Entries); n != 11 || len(out.Notes) > 0 || out.Ends[0].Stopped == "" {
			t.Errorf("%d requests, %s, notes %v", n, out.Ends[0], out.Notes)
		}
		time.Sleep(time.Second)
	})
}

func TestOnlyWorkersGetWork(t *testing.T) {
	for _, c := range []struct {
		client Client
		want   bool
	}{{once, true}, {CommandWorker("true"), true}, {CommandShared("true"), true}, {Command("true"), false}, {plain{}, false}} {
		client, want := c.client, c.want
		if Works(client) != want {
			t.Errorf("%s works: %v", client.Name(), !want)
		}
		if _, err := Run(t.Context(), worked(time.Second, 2), client, Options{}); !want && (err == nil ||
			!strings.Contains(err.Error(), "scenario work wants a client that keeps working, and "+client.Name()+" ends after one call")) {
			t.Errorf("%s: %v", client.Name(), err)
		}
	}
}

// TestCommandWorkersReadLines puts shell scripts to work.
func TestCommandWorkersReadLines(t *testing.T) {
	for _, program := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("this machine has no %s", program)
		}
	}
	script := `while read -r call url; do curl -s -H "X-Retrygate-Call: $call" "$url/driver/status"; done; echo end of input`
	out := mustRun(t, worked(20*time.Millisecond, 5), CommandWorker("sh", "-c", script), Options{})
	var calls []string
	for _, e := range out.History.Entries {
		calls = append(calls, e.Call)
	}
	if got := strings.Join(calls, " "); got != "client-1.1 client-1.2 client-1.3 client-1.4 client-1.5" || len(out.Notes) > 0 {
		t.Errorf("calls %s, notes %v", got, out.Notes)
	}
	if o := out.Ends[0].Output.Stdout; !strings.HasSuffix(o, "end of input\n") {
		t.Errorf("printed %q", o)
	}

	out = mustRun(t, scenarios.Scenario{Name: "calm"}, CommandWorker("sh", "-c", script), Options{})
	if e := out.History.Entries; len(e) != 1 || e[0].Call != "client-1.1" {
		t.Errorf("without work: %v", e)
	}

	out = mustRun(t, worked(200*time.Millisecond, 5), CommandWorker("sh", "-c", `read -r call url; curl -s "$url"`), Options{})
	if got := strings.Join(out.Notes, "; "); !strings.Contains(got, "ended with exit code 0 and left ") {
		t.Errorf("notes: %s", got)
	}
}
