package faultserver_test

import (
	"fmt"
	"net/http"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

func delay(d time.Duration) *fault.Latency { return &fault.Latency{Fixed: d} }

// Delays do not wait for each other (WireMock 598 answered 20 requests in four groups).
func TestDelaysRunSideBySide(t *testing.T) {
	for _, n := range []int{20, 100, 2000} {
		virtual(t, func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Fault: fault.Of("latency", delay(500*ms))})
			began := time.Now()
			var all sync.WaitGroup
			for range n {
				all.Go(func() {
					if got := w.do(t, "GET /"); got != 200 || time.Since(began) != 500*ms {
						t.Errorf("%d at once: %d after %v", n, got, time.Since(began))
					}
				})
			}
			all.Wait()
		})
	}
}

// On a real clock the same holds, next to a handler that sleeps: never early, and in one group. The best of three tries
// counts, because the machine may have something else to do; a server that makes groups needs twice as long in each.
func TestDelaysRunSideBySideInRealTime(t *testing.T) {
	const n, d = 100, 200 * ms
	one, two := dialN(t, serve(t, sleeper(d)), get, n), dialN(t, latencyServer(t, d), get, n)
	for try := 1; ; try++ {
		base, subj := lateness(t, one, two, d, 1)
		if subj[0] < 0 {
			t.Fatalf("an answer came %v early", -subj[0])
		}
		if worst := subj[n-1]; worst < d/2+2*base[n-1] {
			return
		} else if try == 3 {
			t.Fatalf("the last of %d answers came %v after the delay of %v; behind a handler that sleeps, %v", n, worst, d, base[n-1])
		}
	}
}

// No answer comes early, wherever the delay is and however it is drawn. The clock is the subject: a timer that is short by
// a rounding shows on a real one only.
func TestDelaysAreNeverShort(t *testing.T) {
	for name, f := range map[string]*fault.Latency{
		"before":      {Fixed: 3 * ms},
		"after":       {Fixed: 3 * ms, At: fault.After},
		"odd":         {Fixed: 2999999},
		"uniform":     {Uniform: &fault.Uniform{Min: 3 * ms, Max: 5 * ms}},
		"pareto":      {Pareto: &fault.Pareto{Scale: 3 * ms, Shape: 3}, Max: 6 * ms},
		"in two, 3ms": {Fixed: 1500 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := faultserver.New()
			defer s.Close()
			faults := []fault.Fault{f}
			if f.Fixed == 1500*time.Microsecond {
				faults = append(faults, f)
			}
			if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Fault: fault.Of(name, fault.Chain(faults...))}}}); err != nil {
				t.Fatal(err)
			}
			l := dialN(t, listen(t, s), get, 8)
			for range 25 {
				for _, late := range l.late(t, 2999999) {
					if late < 0 {
						t.Fatalf("%v early", -late)
					}
				}
			}
		})
	}
}

// Requests that are being delayed are timers and goroutines: they hold no thread, whatever their number.
func TestPendingDelaysHoldNoThreads(t *testing.T) {
	const pending = 2000
	s := faultserver.New()
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Fault: fault.Of("latency", delay(time.Hour))}}}); err != nil {
		t.Fatal(err)
	}
	threads := pprof.Lookup("threadcreate")
	before := threads.Count()
	var all sync.WaitGroup
	all.Go(func() { // where a delay is cut short, the exchange is aborted
		crowdWith(s, pending)
	})
	for s.Journal().Pending() < pending {
		<-s.Journal().Changed()
	}
	// A few come with a busy scheduler; a thread for each would be two thousand.
	if more := threads.Count() - before; more > 50 {
		t.Errorf("%d delays made %d threads", pending, more)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
}

// crowdWith sends n requests at once, and does not mind how they end.
func crowdWith(s *faultserver.Server, n int) {
	abortable := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { _ = recover() }()
		s.ServeHTTP(w, r)
	})
	var all sync.WaitGroup
	for k := range n {
		all.Go(func() { abortable.ServeHTTP(&deaf{http.Header{}}, plain(k)) })
	}
	all.Wait()
}

// Two delays add up, before and after the upstream is asked, and one delay is one whatever the size of the body (toxiproxy
// 94 lost the second, and 47 delayed each piece).
func TestDelaysAddUp(t *testing.T) {
	body := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		faults []fault.Fault
		want   time.Duration
	}{
		"one":             {[]fault.Fault{delay(50 * ms)}, 50 * ms},
		"two":             {[]fault.Fault{delay(50 * ms), delay(50 * ms)}, 100 * ms},
		"before, after":   {[]fault.Fault{delay(50 * ms), &fault.Latency{Fixed: 70 * ms, At: fault.After}}, 120 * ms},
		"after, after":    {[]fault.Fault{&fault.Latency{Fixed: 30 * ms, At: fault.After}, &fault.Latency{Fixed: 70 * ms, At: fault.After}}, 100 * ms},
		"three, one late": {[]fault.Fault{delay(time.Second), &fault.Latency{Fixed: 70 * ms, At: fault.After}, delay(ms)}, 1071 * ms},
	} {
		test := func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Fault: fault.Of("latency", fault.Chain(c.faults...))})
			began := time.Now()
			if got, answer := w.ask(t, "POST /", body); got != 200 || answer != body || time.Since(began) != c.want {
				t.Errorf("%d with %d bytes after %v, want %v", got, len(answer), time.Since(began), c.want)
			}
		}
		t.Run(name+"/stub", func(t *testing.T) { virtual(t, test, faultserver.WithStub(faultserver.Stub{Body: body})) })
		t.Run(name+"/upstream", func(t *testing.T) {
			proxied(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }, test)
		})
	}
}

// Answers that drip cost the others nothing (WireMock 2987 served nothing else after twenty).
func TestSlowAnswersHoldNobodyUp(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Match: faultserver.Match{Path: "/slow"}, Fault: fault.Of("drip", &fault.Drip{Every: time.Minute})},
			faultserver.Rule{Match: faultserver.Match{Path: "/late"}, Fault: fault.Of("latency", delay(time.Hour))})
		w.client.Timeout = 10 * time.Minute
		var all sync.WaitGroup
		for i := range 600 {
			all.Go(func() { w.do(t, []string{"GET /slow", "GET /late"}[i%2]) })
		}
		synctest.Wait()
		began := time.Now()
		if got := w.do(t, "GET /fast"); got != 200 || time.Since(began) != 0 {
			t.Errorf("%d after %v", got, time.Since(began))
		}
		all.Wait()
	})
}
