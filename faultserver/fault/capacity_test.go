package fault_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// visit is one request to a Capacity: when it comes, how long its client stays (0: for ever), and what becomes of it.
type visit struct {
	at, patience time.Duration
	want         string // "200 after 3s", "503 after 0s", "left after 1s"
}

// visits plays requests, and returns what became of them.
func visits(f fault.Fault, all []visit) []string {
	became := make([]string, len(all))
	var clients sync.WaitGroup
	for i, v := range all {
		clients.Go(func() {
			time.Sleep(v.at + time.Duration(i)) // a nanosecond apart, so that their order is certain
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if v.patience > 0 {
				ctx, cancel = context.WithTimeout(ctx, v.patience)
				defer cancel()
			}
			came := time.Now()
			became[i] = fmt.Sprintf("%s after %v", meet(ctx, f), time.Since(came).Round(time.Millisecond))
		})
	}
	clients.Wait()
	return became
}

// meet is one exchange without a network.
func meet(ctx context.Context, f fault.Fault) (end string) {
	defer func() {
		if p := recover(); p == http.ErrAbortHandler {
			end = "left"
		} else if p != nil {
			panic(p)
		}
	}()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://t/", nil)
	w := &answer{header: http.Header{}}
	f.Inject(w, r, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }))
	return fmt.Sprint(w.code)
}

func TestCapacityServesInOrder(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	for name, c := range map[string]struct {
		capacity *fault.Capacity
		visits   []visit
	}{
		"idle": {&fault.Capacity{Service: s},
			[]visit{{0, 0, "200 after 1s"}, {5 * s, 0, "200 after 1s"}, {6500 * ms, 0, "200 after 1s"}}},
		"queue": {&fault.Capacity{Service: s},
			[]visit{{0, 0, "200 after 1s"}, {0, 0, "200 after 2s"}, {500 * ms, 0, "200 after 2.5s"}, {3500 * ms, 0, "200 after 1s"}}},
		"rate":    {&fault.Capacity{Rate: 4}, []visit{{0, 0, "200 after 250ms"}, {0, 0, "200 after 500ms"}}},
		"default": {&fault.Capacity{}, []visit{{0, 0, "200 after 100ms"}, {0, 0, "200 after 200ms"}}},
		"workers": {&fault.Capacity{Service: s, Workers: 2},
			[]visit{{0, 0, "200 after 1s"}, {300 * ms, 0, "200 after 1s"}, {400 * ms, 0, "200 after 1.6s"}, {500 * ms, 0, "200 after 1.8s"}, {600 * ms, 0, "200 after 2.4s"}}},
		"rate of workers": {&fault.Capacity{Rate: 4, Workers: 2}, []visit{{0, 0, "200 after 500ms"}, {0, 0, "200 after 500ms"}, {0, 0, "200 after 1s"}}},
		"bound": {&fault.Capacity{Service: s, Queue: new(2)},
			[]visit{{0, 0, "200 after 1s"}, {0, 0, "200 after 2s"}, {0, 0, "200 after 3s"}, {0, 0, "503 after 0s"}, {1100 * ms, 0, "200 after 2.9s"}, {1200 * ms, 0, "503 after 0s"}}},
		"no queue": {&fault.Capacity{Service: s, Queue: new(0)},
			[]visit{{0, 0, "200 after 1s"}, {500 * ms, 0, "503 after 0s"}, {1100 * ms, 0, "200 after 1s"}}},
		"those who left are served": {&fault.Capacity{Service: s},
			[]visit{{0, 0, "200 after 1s"}, {0, 500 * ms, "left after 500ms"}, {0, 1500 * ms, "left after 1.5s"}, {0, 0, "200 after 4s"}}},
		"those who left are served, though nobody waits": {&fault.Capacity{Service: s},
			[]visit{{0, 100 * ms, "left after 100ms"}, {0, 200 * ms, "left after 200ms"}, {0, 200 * ms, "left after 200ms"}, {1500 * ms, 0, "200 after 2.5s"}, {10 * s, 0, "200 after 1s"}}},
		"those who left fill the queue": {&fault.Capacity{Service: s, Queue: new(1)},
			[]visit{{0, 0, "200 after 1s"}, {0, 100 * ms, "left after 100ms"}, {500 * ms, 0, "503 after 0s"}, {1500 * ms, 0, "200 after 1.5s"}}},
		"stale ones dropped": {&fault.Capacity{Service: s, DropStale: true},
			[]visit{{0, 0, "200 after 1s"}, {0, 500 * ms, "left after 500ms"}, {0, 700 * ms, "left after 700ms"}, {0, 0, "200 after 2s"}}},
		"stale ones dropped, not one being served": {&fault.Capacity{Service: s, DropStale: true},
			[]visit{{0, 0, "200 after 1s"}, {0, 1500 * ms, "left after 1.5s"}, {0, 0, "200 after 3s"}}},
		"stale ones dropped at their turn, not before": {&fault.Capacity{Service: s, DropStale: true, Queue: new(1)},
			[]visit{{0, 0, "200 after 1s"}, {0, 100 * ms, "left after 100ms"}, {500 * ms, 0, "503 after 0s"}, {1100 * ms, 0, "200 after 1s"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				became := visits(c.capacity, c.visits)
				for i, v := range c.visits {
					if became[i] != v.want {
						t.Errorf("request %d at %v: %s, want %s", i+1, v.at, became[i], v.want)
					}
				}
			})
		})
	}
}

// TestCapacityIsExact compares random visits with the equation of a queue: each starts when it has come, when a worker is
// free, and not before those in front of it.
func TestCapacityIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, workers, service = 2000, 3, 70 * time.Millisecond
		random := rand.New(rand.NewPCG(3, 3))
		var all []visit
		free := make([]time.Duration, workers)
		var at time.Duration
		for range n {
			at += time.Duration(random.ExpFloat64()*23) * time.Millisecond
			w := slices.Index(free, slices.Min(free))
			free[w] = max(free[w], at) + service
			all = append(all, visit{at: at, want: fmt.Sprintf("200 after %v", free[w]-at)})
		}
		for i, became := range visits(&fault.Capacity{Service: service, Workers: workers}, all) {
			if became != all[i].want {
				t.Fatalf("request %d at %v: %s, want %s", i+1, all[i].at, became, all[i].want)
			}
		}
	})
}

func TestCapacityOnTheWire(t *testing.T) {
	f := &fault.Capacity{Service: time.Minute, Queue: new(0), RetryAfter: fault.Seconds(1500 * time.Millisecond)}
	virtual(t, f, healthy("hi"), func(t *testing.T, client *http.Client, o *outcome) {
		go func() { describe(client.Get("http://t/")) }()
		time.Sleep(time.Second)
		resp, err := client.Get("http://t/")
		if err != nil || resp.Header.Get("Retry-After") != "2" || resp.Header.Get("Content-Type") != "application/problem+json" {
			t.Fatal(resp, err)
		}
		const want = `503 "{\"title\":\"Service Unavailable\",\"status\":503,\"detail\":\"The server is busy, and its queue of 0 is full. Try again later, and less often.\"}\n"`
		if got := describe(resp, err); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		time.Sleep(time.Minute)
		if o.asked.Load() != 1 || o.cut.Load() != 0 {
			t.Errorf("backend asked %d times, %d answers cut", o.asked.Load(), o.cut.Load())
		}
	})
}

// TestCapacityKeepsItsRate has every turn given late, as timers do: the next request must not start late for it.
func TestCapacityKeepsItsRate(t *testing.T) {
	done := fault.LateTurns(&fault.Capacity{Service: time.Hour}, 5, time.Minute)
	if want := []time.Duration{1 * time.Hour, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 5 * time.Hour}; !slices.Equal(done, want) {
		t.Errorf("requests are done after %v, want %v", done, want)
	}
}

// TestCapacityCostsNoThreads has a thousand requests wait, which then all leave.
func TestCapacityCostsNoThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, threads := &fault.Capacity{Service: time.Hour}, pprof.Lookup("threadcreate").Count()
		ctx, cancel := context.WithCancel(context.Background())
		var clients sync.WaitGroup
		for range 1000 {
			clients.Go(func() {
				if got := meet(ctx, f); got != "left" {
					t.Error(got)
				}
			})
		}
		synctest.Wait()
		if more := pprof.Lookup("threadcreate").Count() - threads; more > 50 {
			t.Errorf("%d threads were started", more)
		}
		cancel()
		clients.Wait()
	})
}

func TestCapacityRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"{capacity: {}}":                              "f:1:12: one of rate or service is needed",
		"{capacity: {rate: 40, service: 1s}}":         "f:1:32: rate and service cannot stand together; keep one",
		"{capacity: {rate: 0}}":                       "f:1:19: rate: 0 is out of range; want 0.001 to 1e+06",
		"{capacity: {rate: fast}}":                    `f:1:19: found the text "fast"; want a number such as 0.5`,
		"{capacity: {service: 0s}}":                   "f:1:22: service: 0s is too small; want more than 0s",
		"{capacity: {rate: 1, workers: 0}}":           "f:1:31: workers: 0 is out of range; want 1 to 1000",
		"{capacity: {rate: 1, queue: -1}}":            "f:1:29: queue: -1 is too small; want at least 0",
		"{capacity: {rate: 1, retry-after: 1s}}":      "f:1:35: retry-after goes with the 503 of a full queue, but without queue there is no such thing",
		"{capacity: {rate: 1, queue: 1, drop: true}}": `f:1:32: unknown field "drop"; did you mean drop-stale?`,
	} {
		if _, err := spec(t, text); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", text, err, want)
		}
	}
}
