package faultserver_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

func limit(settings *fault.Ratelimit) fault.Spec { return fault.Of("ratelimit", settings) }

// A limit acts only on what is over it: the journal and the counts say so, and the rules behind have all the rest.
func TestRatelimitActsOnlyWhenReached(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t,
			faultserver.Rule{Name: "limit", Fault: limit(&fault.Ratelimit{Limits: []fault.Rate{{N: 3, Per: time.Minute}}})},
			faultserver.Rule{Name: "outage", Steps: []fault.Spec{status(503)}},
		)
		for i, want := range []struct {
			status      int
			rule, after string
		}{{503, "outage", ""}, {200, "", ""}, {200, "", ""}, {429, "limit", "60"}, {429, "limit", "60"}} {
			got := w.do(t, "GET /")
			synctest.Wait()
			e := w.last(t)
			if got != want.status || e.Status != want.status || e.Rule != want.rule || e.RetryAfter != want.after || (e.Fault == "ratelimit") != (got == 429) {
				t.Errorf("request %d: %d, %+v", i+1, got, e)
			}
		}
		if fired := w.Fired(); fired["limit"] != 2 || fired["outage"] != 1 {
			t.Errorf("fired %v", fired)
		}
		time.Sleep(time.Minute)
		if got := w.do(t, "GET /"); got != 200 {
			t.Errorf("%d after the minute", got)
		}
	})
}

// A limit in a list limits what comes after it: an answer that it let through is the next fault's.
func TestRatelimitComposes(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		slow := &fault.Latency{Fixed: 2 * time.Second}
		w.use(t, faultserver.Rule{Name: "both", Fault: fault.Of("latency+ratelimit+status",
			fault.Chain(slow, &fault.Ratelimit{Limits: []fault.Rate{{N: 1, Per: time.Minute}}}, &fault.Status{Code: 418}))})
		for _, want := range []int{418, 429} {
			start := time.Now()
			if got := w.do(t, "GET /"); got != want || time.Since(start) != 2*time.Second {
				t.Errorf("%d after %v, want %d", got, time.Since(start), want)
			}
		}
		if fired := w.Fired()["both"]; fired != 2 {
			t.Errorf("fired %d times", fired)
		}
	})
}

// Who is limited is who the journal names, told by listener, header or credentials, and never by connection.
func TestRatelimitKnowsClients(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.listen(t, "own.test:80", "own")
		w.use(t, faultserver.Rule{Fault: limit(&fault.Ratelimit{Limits: []fault.Rate{{N: 1, Per: time.Minute}}})})
		for _, c := range []struct {
			request string
			headers []string
		}{
			{"GET /", nil},
			{"GET /", []string{"X-Client", "a"}},
			{"GET /", []string{"X-Client", "b"}},
			{"GET /", []string{"Authorization", "Bearer 1"}},
			{"GET /", []string{"Authorization", "Bearer 2"}},
			{"GET http://own.test/", nil},
		} {
			if first, second := w.do(t, c.request, c.headers...), w.do(t, c.request, c.headers...); first != 200 || second != 429 {
				t.Errorf("%s %v: %d and %d", c.request, c.headers, first, second)
			}
			if c.request != "GET /" { // whoever comes to a client's own listener is that client
				if got := w.do(t, c.request, "Authorization", "Bearer 3"); got != 429 {
					t.Errorf("%s with other credentials: %d", c.request, got)
				}
			}
		}
	}, faultserver.WithClientHeader("X-Client"))
}

// A plan that is put to use starts with fresh counters, also when it is the same plan, or another server has it too.
func TestRatelimitStartsAnewWithThePlan(t *testing.T) {
	plan := faultserver.Rule{Sweep: []fault.Spec{limit(&fault.Ratelimit{Limits: []fault.Rate{{N: 1, Per: time.Hour}}})}, Per: faultserver.PerClient}
	for range 2 {
		virtual(t, func(t *testing.T, w *world) {
			for _, anew := range []func(){func() { w.use(t, plan) }, func() { w.use(t, plan) }, w.Reset} {
				anew()
				if first, second := w.do(t, "GET /"), w.do(t, "GET /"); first != 200 || second != 429 {
					t.Errorf("%d and %d", first, second)
				}
			}
		})
	}
}

// Payloads are told apart by their bodies, before a stub and before an upstream.
func TestRatelimitReadsBodies(t *testing.T) {
	test := func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Fault: limit(&fault.Ratelimit{Identical: &fault.Rate{N: 1, Per: time.Minute}})})
		for i, c := range []struct {
			body string
			want int
		}{{"a", 200}, {"b", 200}, {"a", 429}, {"", 200}, {"", 200}, {strings.Repeat("long", 1<<12), 200}, {strings.Repeat("long", 1<<12), 429}} {
			got, body := w.ask(t, "POST /", c.body)
			if got != c.want || strings.Contains(body, "abnormal-usage-detected") != (got == 429) {
				t.Errorf("request %d: %d %s", i+1, got, body)
			}
		}
	}
	t.Run("stub", func(t *testing.T) { virtual(t, test) })
	t.Run("upstream", func(t *testing.T) { proxied(t, func(http.ResponseWriter, *http.Request) {}, test) })
}

// A limit does not stand in the way of rules behind it, as far as the check of plans goes.
func TestRatelimitTakesNothingAway(t *testing.T) {
	s := faultserver.New()
	defer s.Close()
	limited, outage := faultserver.Rule{Fault: limit(&fault.Ratelimit{})}, faultserver.Rule{Fault: status(503)}
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{limited, outage}}); err != nil {
		t.Error(err)
	}
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{outage, limited}}); err == nil {
		t.Error("a limit behind a rule that takes everything is no error")
	}
}

// A client that waits as long as it was told, to the nanosecond, is let in: a thousand times of a thousand.
func TestRatelimitKeepsItsWord(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Fault: limit(&fault.Ratelimit{
			Limits: []fault.Rate{{N: 2, Per: 900 * time.Millisecond}, {N: 5, Per: 7 * time.Second}}, Identical: &fault.Rate{N: 3, Per: 11 * time.Second}})})
		random := rand.New(rand.NewPCG(5, 5))
		for refused := 0; refused < 1000; {
			body := strconv.Itoa(random.IntN(3))
			if got, _ := w.ask(t, "POST /", body); got == 429 {
				refused++
				wait, err := strconv.Atoi(w.last(t).RetryAfter)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(wait) * time.Second)
				if got, _ := w.ask(t, "POST /", body); got != 200 {
					t.Fatalf("%d after a wait of %d s, as told", got, wait)
				}
			}
			time.Sleep(time.Duration(random.IntN(int(time.Second))))
		}
	})
}

// Real clients over real sockets, in real time: those that wait exactly as told are let in, while one hammers all along.
func TestRatelimitInRealTime(t *testing.T) {
	s := faultserver.New(faultserver.WithClientHeader("X-Client"))
	defer s.Close()
	url, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	err = s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "limit", Fault: limit(&fault.Ratelimit{
		Limits: []fault.Rate{{N: 4, Per: 700 * time.Millisecond}}, Ceiling: &fault.Rate{N: 1000, Per: time.Second}})}}})
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	defer transport.CloseIdleConnections()
	ask := func(client string) (wait int) {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("x"))
		r.Header.Set("X-Client", client)
		answer, err := transport.RoundTrip(r)
		if err != nil {
			t.Error(err)
			return 0
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		if answer.StatusCode == 429 {
			wait, err = strconv.Atoi(answer.Header.Get("Retry-After"))
			if err != nil || wait < 1 {
				t.Errorf("Retry-After %q", answer.Header.Get("Retry-After"))
			}
		}
		return wait
	}
	// The clock is the subject: what the machine's timers make of "wait so many seconds" has to be enough.
	end := time.Now().Add(2500 * time.Millisecond)
	refused := 0
	var clients sync.WaitGroup
	clients.Go(func() {
		for ; time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
			refused += min(1, ask("hammer"))
		}
	})
	clients.Go(func() {
		for ; time.Now().Before(end); time.Sleep(240 * time.Millisecond) { // three in 700 ms
			if wait := ask("under its limit"); wait != 0 {
				t.Errorf("a client under its limit is told to wait %d s", wait)
			}
		}
	})
	for i := range 30 {
		clients.Go(func() {
			name := fmt.Sprint("obeys ", i)
			for time.Now().Before(end) {
				wait := ask(name)
				if wait == 0 {
					continue
				}
				time.Sleep(time.Duration(wait) * time.Second)
				if again := ask(name); again != 0 {
					t.Errorf("%s waited %d s as told, and is told to wait %d s more", name, wait, again)
				}
			}
		})
	}
	clients.Wait()
	if refused < 10 || s.Fired()["limit"] < uint64(refused)+60 {
		t.Errorf("the one that hammers was refused %d times, all together %d times", refused, s.Fired()["limit"])
	}
}
