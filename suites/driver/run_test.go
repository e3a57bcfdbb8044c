package driver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/scenarios"
)

// get sends one request over a connection that does not outlive it.
func get(ctx context.Context, url string) (status int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, errors.Join(err, response.Body.Close())
}

// times sends n requests at once after the other, and then waits to be stopped.
func times(n int) Client {
	return Func("times", func(ctx context.Context, url string) error {
		for range n {
			if _, err := get(ctx, url+"/driver/status"); err != nil {
				return err
			}
		}
		<-ctx.Done()
		return ctx.Err()
	})
}

// loop never stops by itself.
var loop = Func("loop", func(ctx context.Context, url string) error {
	for {
		if _, err := get(ctx, url+"/driver/status"); err != nil {
			return err
		}
	}
})

var once = Func("once", func(ctx context.Context, url string) error {
	_, err := get(ctx, url+"/driver/status")
	return err
})

func mustRun(t *testing.T, s scenarios.Scenario, c Client, o Options) *Outcome {
	t.Helper()
	out, err := Run(t.Context(), s, c, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRunTellsWhatHappened(t *testing.T) {
	s := scenarios.Scenario{Name: "calm", Clients: 3}
	var mu sync.Mutex
	var events []Event
	out := mustRun(t, s, once, Options{Seed: 7, Clients: 2, Progress: func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}})
	if out.Scenario.Name != "calm" || len(out.Ends) != 3 || len(out.History.Entries) != 3 || len(out.Notes) != 0 {
		t.Errorf("%+v", out)
	}
	seen := map[string]int{}
	for _, e := range out.History.Entries {
		seen[e.Client]++
		if e.Open || e.Status != 200 || e.Path != "/driver/status" {
			t.Errorf("%+v", e)
		}
	}
	for i, e := range out.Ends {
		if want := (Target{Number: i + 1}).Client(); e.Client != want || seen[want] != 1 || e.Requests != 1 || e.Silent || e.Stopped != "" || e.Exit.Err != nil {
			t.Errorf("%+v", e)
		}
	}
	r := out.Run
	if !r.Ended || r.Lost != 0 || r.Until != out.History.Until || r.Until == 0 || !r.Began.Equal(out.History.Began) || len(r.Noise.Slices) == 0 {
		t.Errorf("%+v", r)
	}
	kinds := map[EventKind]int{}
	for _, e := range events {
		kinds[e.Kind]++
		if e.Scenario != "calm" || e.Client == "" || e.Kind == Ended && (e.Requests != 1 || e.Text != "ended without an error") {
			t.Errorf("%+v", e)
		}
	}
	if kinds[Started] != 3 || kinds[Ended] != 3 || events[0].Kind != Started || events[len(events)-1].Kind != Ended {
		t.Errorf("%+v", events)
	}
}

func TestStormIsStoppedAtOnce(t *testing.T) {
	began := time.Now()
	out := mustRun(t, scenarios.Scenario{Name: "s0"}, loop, Options{Stub: faultserver.Stub{Status: 400}})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	end := out.Ends[0]
	if end.Requests <= DefaultStormLimit || !strings.Contains(end.Stopped, "it would have gone on") || !out.Run.Ended || len(out.Notes) != 1 {
		t.Errorf("%+v, notes %q", end, out.Notes)
	}
	if len(out.History.Entries) < end.Requests {
		t.Errorf("%d entries of %d requests: evidence is gone", len(out.History.Entries), end.Requests)
	}
}

func TestStormOfACommandIsStopped(t *testing.T) {
	need(t, "sh", "curl")
	// It ignores SIGTERM, and its requests come from children.
	storm := Command("sh", "-c", "trap '' TERM; while :; do curl -s -o /dev/null {{url}}; done")
	out := mustRun(t, scenarios.Scenario{Name: "s0"}, storm, Options{StormLimit: 5, Enough: -1, Stub: faultserver.Stub{Status: 400}})
	if end := out.Ends[0]; end.Exit.Signal != "killed" || !strings.HasSuffix(end.Stopped, " s: it would have gone on") || end.Requests < 6 {
		t.Errorf("%+v", end)
	}
	nothingLeft(t)
}

func TestEnoughIsEnough(t *testing.T) {
	out := mustRun(t, scenarios.Scenario{Name: "outage"}, times(3), Options{Enough: 3, Stub: faultserver.Stub{Status: 503}})
	end := out.Ends[0]
	if want := "was stopped after 3 requests for GET /driver/status: that settles how it retries"; end.Stopped != want || end.Took < enoughFor {
		t.Errorf("got  %s after %v\nwant %s", end.Stopped, end.Took, want)
	}
}

func TestLimitOfTheScenarioCounts(t *testing.T) {
	out := mustRun(t, scenarios.Scenario{Name: "slow", Limit: 500 * time.Millisecond}, times(1), Options{Limit: time.Hour})
	if end := out.Ends[0]; end.String() != "did not end within 0.5 s and was stopped" || end.Requests != 1 {
		t.Errorf("%+v", end)
	}
	if want := "client-1 did not end within 0.5 s and was stopped"; len(out.Notes) != 1 || out.Notes[0] != want {
		t.Errorf("%q", out.Notes)
	}
}

func TestSilentClientIsNamed(t *testing.T) {
	need(t, "sh")
	out := mustRun(t, scenarios.Scenario{Name: "calm"}, Command("sh", "-c", "echo where to? >&2; exit 6"), Options{})
	end := out.Ends[0]
	want := "client-1 ended with exit code 6 and never sent a request to " + end.URL + "; its output: where to?"
	if !end.Silent || end.Exit.Code != 6 || end.Message != want || len(out.Notes) != 1 || out.Notes[0] != want {
		t.Errorf("%+v, notes %q", end, out.Notes)
	}
}

func TestClientsOfOneScenarioRunTogether(t *testing.T) {
	const clients = 10
	var here sync.WaitGroup
	here.Add(clients)
	meet := Func("meet", func(ctx context.Context, url string) error {
		here.Done()
		here.Wait() // for ever, if they came one by one
		_, err := get(ctx, url)
		return err
	})
	out := mustRun(t, scenarios.Scenario{Name: "crowd"}, meet, Options{Clients: clients, Slots: NewSlots(2)})
	urls := map[string]bool{}
	for _, e := range out.Ends {
		urls[e.URL] = true
	}
	if len(urls) != clients || len(out.History.Entries) != clients {
		t.Errorf("%d addresses, %d requests", len(urls), len(out.History.Entries))
	}
}

func TestSlotsAreShared(t *testing.T) {
	var now, most atomic.Int32
	client := Func("busy", func(ctx context.Context, url string) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		_, err := get(ctx, url)
		return err
	})
	slots := NewSlots(2)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if _, err := Run(t.Context(), scenarios.Scenario{Name: "calm"}, client, Options{Slots: slots, Clients: 2, blind: true}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() > 2 {
		t.Errorf("%d clients ran at a time", most.Load())
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	told := make(chan Event, 10)
	go func() {
		for e := range told {
			if e.Kind == Sent {
				cancel()
			}
		}
	}()
	defer close(told)
	out, err := Run(ctx, scenarios.Scenario{Name: "calm"}, times(1), Options{Progress: func(e Event) { told <- e }})
	if !errors.Is(err, context.Canceled) || len(out.History.Entries) == 0 {
		t.Errorf("got %v and %+v, want what came until then", err, out)
	}
	if _, err = Run(ctx, scenarios.Scenario{Name: "calm"}, once, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("begun too late: got %v", err)
	}
}

func TestWhatCannotStartIsAnError(t *testing.T) {
	var s *StartError
	if _, err := Run(t.Context(), scenarios.Scenario{Name: "calm"}, Command("no-such-program-here"), Options{}); !errors.As(err, &s) {
		t.Errorf("got %v, want a StartError", err)
	}
	_, err := Run(t.Context(), scenarios.Scenario{Name: "bad", Rules: []faultserver.Rule{{Name: "nothing"}}}, once, Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "scenario bad: ") {
		t.Errorf("got %v, want what is wrong with the plan", err)
	}
}

// load reads a scenario's rules.
func load(t *testing.T, rules string) scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Load("test.yaml", []byte("name: test\nsummary: A test.\nwhy: It must work.\njudges: [retry-cap]\n"+rules))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestHangsEndWithTheirClients has a client give up on a server that never answers: nobody waits for what still hangs.
func TestHangsEndWithTheirClients(t *testing.T) {
	s := load(t, "rules: [{name: silence, fault: {hang: {}}}]\n")
	impatient := Func("impatient", func(ctx context.Context, url string) error {
		ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		defer cancel()
		_, err := get(ctx, url)
		return err
	})
	out := mustRun(t, s, impatient, Options{})
	e := out.History.Entries[0]
	if len(out.History.Entries) != 1 || e.Open || e.Gone == 0 || e.Status != 0 || out.Fired["silence"] != 1 || !out.Run.Ended {
		t.Errorf("%+v, fired %v, ended %v", out.History.Entries, out.Fired, out.Run.Ended)
	}
}

// TestStoppedClientsDidNotLeave has the harness stop a client that would have waited on: what it waited for stays open.
func TestStoppedClientsDidNotLeave(t *testing.T) {
	need(t, "curl")
	s := load(t, "limit: 500ms\nrules: [{name: silence, when: {first: 1}, fault: {hang: {}}}]\n")
	for _, client := range []Client{once, Command("curl", "-sS", "{{url}}/driver/status")} {
		t.Run(client.Name(), func(t *testing.T) {
			out := mustRun(t, s, client, Options{})
			e, end := out.History.Entries[0], out.Ends[0]
			if !e.Open || e.Gone != 0 || e.Cut || end.Stopped == "" || end.StoppedAt < 500*time.Millisecond {
				t.Errorf("%+v\n%+v", e, end)
			}
		})
	}
}

// TestMemoryRunsInVirtualTime lets a patient client have three minutes that take no time.
func TestMemoryRunsInVirtualTime(t *testing.T) {
	patient := HTTPFunc("patient", func(ctx context.Context, h *http.Client, url string) error {
		for range 3 {
			response, err := h.Get(url)
			if err != nil {
				return err
			}
			if err := response.Body.Close(); err != nil {
				return err
			}
			time.Sleep(time.Minute)
		}
		return nil
	})
	synctest.Test(t, func(t *testing.T) {
		out := mustRun(t, scenarios.Scenario{Name: "calm", Clients: 2}, patient, Options{Memory: true, Limit: time.Hour})
		if len(out.History.Entries) != 6 || out.Ends[0].Took != 3*time.Minute || len(out.Run.Noise.Slices) != 37 {
			t.Errorf("%d entries, %v, %d slices", len(out.History.Entries), out.Ends[0], len(out.Run.Noise.Slices))
		}
		if out.Run.Name != out.Scenario.Name || out.Run.Name == "" {
			t.Errorf("the run is called %q, its scenario %q: bubbles all begin at once", out.Run.Name, out.Scenario.Name)
		}
		if last := out.History.Entries[5]; last.At != 2*time.Minute || out.Run.Noise.P99(0, time.Hour) != 0 {
			t.Errorf("%+v, lateness %v", last, out.Run.Noise.P99(0, time.Hour))
		}
	})
}

// TestSeedReachesTheServer runs a fault of even chance twice under one seed, and under another.
func TestSeedReachesTheServer(t *testing.T) {
	s := load(t, "rules: [{name: dice, chance: 0.5, fault: 503}]\n")
	statuses := func(seed uint64) (list []int) {
		client := Func("forty", func(ctx context.Context, url string) error {
			for range 40 {
				if _, err := get(ctx, url); err != nil {
					return err
				}
			}
			return nil
		})
		for _, e := range mustRun(t, s, client, Options{Seed: seed, Enough: -1, blind: true}).History.Entries {
			list = append(list, e.Status)
		}
		return list
	}
	if one, two := statuses(1), statuses(1); !slices.Equal(one, two) {
		t.Errorf("one seed, two outcomes:\n%v\n%v", one, two)
	} else if slices.Equal(one, statuses(2)) {
		t.Errorf("another seed, the same outcome: %v", one)
	}
}

func TestRealClientIsRun(t *testing.T) {
	need(t, "curl")
	t.Setenv("http_proxy", "http://127.0.0.1:1") // must not swallow the run
	s := load(t, "rules: [{name: blip, when: {first: 1}, fault: {status: {code: 503, retry-after: 0s}}}]\n")
	out := mustRun(t, s, Command("curl", "-sS", "-d", "x=1", "--retry", "2", "--retry-delay", "1", "{{url}}/driver/status"), Options{})
	list := out.History.Entries
	if len(list) != 2 || list[0].Status != 503 || list[1].Status != 200 || list[1].Method != http.MethodPost || list[1].BodyLen != 3 || !list[1].BodyWhole {
		t.Errorf("%+v, %v", list, out.Ends)
	}
	if end := out.Ends[0]; end.Exit.Code != 0 || end.Requests != 2 {
		t.Errorf("%+v", end)
	}
}
