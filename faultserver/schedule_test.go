package faultserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

func when(s schedule.Schedule, r faultserver.Rule) faultserver.Rule {
	r.When = schedule.Of(s)
	return r
}

func first(n int, r faultserver.Rule) faultserver.Rule { return when(schedule.First(n), r) }

// Every step is a request with headers, and the status that it must get.
func TestCounting(t *testing.T) {
	type step struct {
		request string // headers after |, as Name: value
		want    int
	}
	const a, b = "POST /|X-Retrygate-Call: a", "POST /|X-Retrygate-Call: b"
	for _, c := range []struct {
		name  string
		rules []faultserver.Rule
		steps []step
	}{
		{"first, for all", []faultserver.Rule{first(2, faultserver.Rule{Fault: status(503)})},
			[]step{{a, 503}, {b, 503}, {a, 200}, {b, 200}}},
		{"first, per call", []faultserver.Rule{first(2, faultserver.Rule{Per: faultserver.PerCall, Fault: status(503)})},
			[]step{{a, 503}, {b, 503}, {a, 503}, {a, 200}, {b, 503}, {b, 200}}},
		{"a call that ended starts anew", []faultserver.Rule{first(1, faultserver.Rule{Per: faultserver.PerCall, Fault: status(503)})},
			[]step{{a, 503}, {a, 200}, {a, 503}, {a, 200}}},
		{"calls without an id", []faultserver.Rule{first(1, faultserver.Rule{Per: faultserver.PerCall, Fault: status(503)})},
			[]step{{"GET /x", 503}, {"GET /y", 503}, {"GET /x?q=1", 503}, {"PUT /x", 503}, {"GET /x", 200}, {"GET /y", 200}, {"GET /x", 503}}},
		{"first, per client", []faultserver.Rule{first(1, faultserver.Rule{Per: faultserver.PerClient, Fault: status(503)})},
			[]step{{"GET /|Authorization: a", 503}, {"GET /|Authorization: b", 503}, {"GET /|Authorization: a", 200}, {"GET /|Authorization: b", 200}}},
		{"sequence", []faultserver.Rule{when(schedule.Sequence{Hits: []int{1, 2, 4}}, faultserver.Rule{Fault: status(503)})},
			[]step{{a, 503}, {a, 503}, {a, 200}, {a, 503}, {a, 200}}},
		{"steps", []faultserver.Rule{{Steps: []fault.Spec{status(503), status(503), status(429), fault.Pass(), status(500)}}},
			[]step{{a, 503}, {b, 503}, {a, 429}, {a, 200}, {a, 500}, {a, 200}, {a, 200}}},
		{"steps, per call", []faultserver.Rule{{Per: faultserver.PerCall, Steps: []fault.Spec{status(503), status(429)}}},
			[]step{{a, 503}, {b, 503}, {a, 429}, {b, 429}, {a, 200}, {b, 200}, {a, 503}}},
		{"sweep", []faultserver.Rule{{Per: faultserver.PerCall, Sweep: []fault.Spec{status(400), status(404)}}},
			[]step{{a, 400}, {b, 404}, {a, 400}, {"GET /c", 400}, {b, 404}, {"GET /c", 400}, {"GET /d", 404}}},
		{"sweep, by default per call", []faultserver.Rule{{Sweep: []fault.Spec{status(400), status(404)}}},
			[]step{{a, 400}, {b, 404}, {a, 400}, {b, 404}}},
		{"sweep of first failures", []faultserver.Rule{first(1, faultserver.Rule{Per: faultserver.PerCall, Sweep: []fault.Spec{status(500), status(502)}})},
			[]step{{a, 500}, {b, 502}, {a, 200}, {b, 200}}},
		{"the first rule that is on acts", []faultserver.Rule{first(1, faultserver.Rule{Fault: status(500)}), first(1, faultserver.Rule{Fault: status(502)})},
			[]step{{a, 500}, {a, 502}, {a, 200}}},
		{"pass shields from later rules", []faultserver.Rule{
			{Match: faultserver.Match{Path: "/health"}, Fault: fault.Pass()},
			{Fault: status(503)}},
			[]step{{"GET /health", 200}, {"GET /", 503}}},
		{"rules after used steps have their turn", []faultserver.Rule{{Steps: []fault.Spec{status(500)}}, {Fault: status(503)}},
			[]step{{a, 500}, {a, 503}}},
		{"steps wait for the schedule", []faultserver.Rule{when(schedule.Sequence{Hits: []int{2, 4, 5}}, faultserver.Rule{Steps: []fault.Spec{status(500), status(502)}})},
			[]step{{a, 200}, {a, 500}, {a, 200}, {a, 502}, {a, 200}}},
		{"steps wait for the schedule, per call", []faultserver.Rule{when(schedule.Sequence{Hits: []int{1, 2}}, faultserver.Rule{Per: faultserver.PerCall, Steps: []fault.Spec{status(500), status(502)}})},
			[]step{{a, 500}, {b, 500}, {a, 502}, {a, 200}, {b, 502}}},
		{"hits are counted while off", []faultserver.Rule{when(schedule.Sequence{Hits: []int{3}}, faultserver.Rule{Fault: status(503)})},
			[]step{{a, 200}, {a, 200}, {a, 503}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.use(t, c.rules...)
				for i, s := range c.steps {
					request, header, _ := strings.Cut(s.request, "|")
					var headers []string
					if name, value, ok := strings.Cut(header, ": "); ok {
						headers = []string{name, value}
					}
					if got := w.do(t, request, headers...); got != s.want {
						t.Errorf("step %d, %s: %d, want %d", i+1, s.request, got, s.want)
					}
				}
			})
		})
	}
}

// A rule that left a call alone on purpose is not in the journal, and has not fired.
func TestPassIsUntouched(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "spare", Fault: fault.Pass()})
		w.do(t, "GET /")
		if e := w.last(t); e.Rule != "" || e.Fault != "" || w.Fired()["spare"] != 0 {
			t.Errorf("rule %q, fault %q, fired %d", e.Rule, e.Fault, w.Fired()["spare"])
		}
	})
}

// Time counts from the first hit, in the rule's scope.
func TestWindows(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, when(schedule.Window{From: time.Second, For: 2 * time.Second}, faultserver.Rule{Per: faultserver.PerClient, Fault: status(503)}))
		time.Sleep(time.Hour) // nothing has come yet, so nothing has begun
		var got []string
		for range 5 {
			got = append(got, fmt.Sprint(w.do(t, "GET /", "Authorization", "a")))
			time.Sleep(700 * time.Millisecond)
		}
		got = append(got, fmt.Sprint(w.do(t, "GET /", "Authorization", "b"))) // its clock starts now
		if want := "200 200 503 503 503 200"; strings.Join(got, " ") != want {
			t.Errorf("got %v, want %s", got, want)
		}
	})
}

// A call whose client left before the answer came has not ended: its counters go on.
func TestCallWithoutDeliveryGoesOn(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		hang := fault.Of("hang", faultFunc(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
			<-r.Context().Done()
		}))
		w.use(t,
			faultserver.Rule{Match: faultserver.Match{Headers: map[string]string{"X-Hang": "1"}}, Fault: hang},
			first(1, faultserver.Rule{Per: faultserver.PerCall, Fault: status(503)}))
		w.client.Timeout = time.Second
		call := []string{faultserver.CallHeader, "a"}
		got := []int{w.do(t, "GET /", call...), w.do(t, "GET /", append(call, "X-Hang", "1")...), w.do(t, "GET /", call...), w.do(t, "GET /", call...)}
		if fmt.Sprint(got) != "[503 0 200 503]" {
			t.Errorf("got %v", got)
		}
	})
}

// Of many requests at once, exactly N meet a "first N", in every scope (WireMock and MockServer got this wrong).
func TestFirstUnderLoad(t *testing.T) {
	const clients, each = 40, 10
	for _, c := range []struct {
		per  faultserver.Scope
		want int
	}{{faultserver.PerAll, 3}, {faultserver.PerClient, 3 * clients}, {faultserver.PerCall, 3 * clients}} {
		t.Run(c.per.String(), func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.use(t, first(3, faultserver.Rule{Per: c.per, Fault: status(503)}))
				var mu sync.Mutex
				var group sync.WaitGroup
				failed := 0
				for i := range clients {
					for range each {
						group.Go(func() {
							name := fmt.Sprintf("c%d", i)
							if w.do(t, "GET /", "Authorization", name) == 503 {
								mu.Lock()
								failed++
								mu.Unlock()
							}
						})
					}
				}
				group.Wait()
				// Per call, the counters start anew whenever a request of the call got through.
				if failed < c.want || failed > c.want && c.per != faultserver.PerCall {
					t.Errorf("%d failed, want %d", failed, c.want)
				}
				if fired := w.Fired()["rule-1"]; fired != uint64(failed) {
					t.Errorf("fired %d times, seen %d times", fired, failed)
				}
			})
		})
	}
}
