package fault_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// seeded gives a writer its random numbers, as the server's does.
type seeded struct {
	http.ResponseWriter
	random *rand.Rand
}

func (s seeded) Draw() *rand.Rand { return s.random }

func (s seeded) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// withSeed runs f with one seed for each exchange.
type withSeed struct {
	fault.Fault
	seed uint64
}

func (s withSeed) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	s.Fault.Inject(seeded{w, rand.New(rand.NewPCG(s.seed, 0))}, r, next)
}

func TestLatencyDelays(t *testing.T) {
	asked := func(at *time.Duration, start *time.Time) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			*at = time.Since(*start)
			_, _ = io.WriteString(w, "hi")
		}
	}
	for name, c := range map[string]struct {
		latency     fault.Latency
		took, asked time.Duration
	}{
		"fixed":             {fault.Latency{Fixed: 200 * time.Millisecond}, 200 * time.Millisecond, 200 * time.Millisecond},
		"default":           {fault.Latency{}, time.Second, time.Second},
		"before":            {fault.Latency{Fixed: time.Minute, At: fault.Before}, time.Minute, time.Minute},
		"after":             {fault.Latency{Fixed: time.Minute, At: fault.After}, time.Minute, 0},
		"cap":               {fault.Latency{Fixed: time.Minute, Max: time.Second}, time.Second, time.Second},
		"cap of the random": {fault.Latency{Pareto: &fault.Pareto{Scale: time.Hour, Shape: 1}, Max: time.Second}, time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var at time.Duration
			var start time.Time
			virtual(t, &c.latency, asked(&at, &start), func(t *testing.T, client *http.Client, o *outcome) {
				start = time.Now()
				got := describe(client.Get("http://t/"))
				if took := time.Since(start); got != `200 "hi"` || took != c.took || at != c.asked {
					t.Errorf("%s after %v, backend asked after %v; want %v and %v", got, took, at, c.took, c.asked)
				}
			})
		})
	}
}

func TestLatencyAfterHoldsWhateverComes(t *testing.T) {
	for name, backend := range map[string]http.HandlerFunc{
		"body":         healthy("hi"),
		"silence":      func(http.ResponseWriter, *http.Request) {},
		"head alone":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"flushed head": func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() },
		"early hints": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusOK)
		},
		"reset": func(w http.ResponseWriter, r *http.Request) {
			(&fault.Reset{}).Inject(w, r, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, &fault.Latency{Fixed: 5 * time.Second, At: fault.After}, backend, func(t *testing.T, client *http.Client, _ *outcome) {
				start := time.Now()
				got := describe(client.Post("http://t/", "", nil))
				if took := time.Since(start); took != 5*time.Second {
					t.Errorf("%s after %v; want 5s", got, took)
				}
			})
		})
	}
}

// TestLatencyAfterSurvivesFlushesFromElsewhere flushes as httputil.ReverseProxy's timer does, after the client has left: a
// panic there would end the process.
func TestLatencyAfterSurvivesFlushesFromElsewhere(t *testing.T) {
	flushed := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	backend := func(w http.ResponseWriter, _ *http.Request) {
		done := make(chan struct{})
		cancel()
		go func() {
			defer close(done)
			flushed <- http.NewResponseController(w).Flush()
		}()
		<-done
	}
	s, o := plain(t, &fault.Latency{Fixed: time.Minute, At: fault.After}, backend)
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.URL, nil)
	got := describe(s.Client().Do(r))
	if err := <-flushed; !errors.Is(err, context.Canceled) {
		t.Errorf("the flush says %v, the client %s", err, got)
	}
	s.Close()
	if o.cut.Load() != 1 {
		t.Error("the exchange does not count as cut")
	}
}

func TestLatencyEndsWhenTheClientLeaves(t *testing.T) {
	for name, at := range map[string]fault.Moment{"before": fault.Before, "after": fault.After} {
		t.Run(name, func(t *testing.T) {
			virtual(t, &fault.Latency{Fixed: time.Hour, At: at}, healthy("hi"), func(t *testing.T, client *http.Client, o *outcome) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://t/", nil)
				if _, err := client.Do(r); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				synctest.Wait() // without moving the clock: the handler has ended
				if want := int32(0); at == fault.Before && o.asked.Load() != want || o.cut.Load() != 1 {
					t.Errorf("asked %d times, cut %d times", o.asked.Load(), o.cut.Load())
				}
			})
		})
	}
}

// TestDistributions looks at 10,000 draws of each: where half of them lie, and where 99 of 100 do.
func TestDistributions(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		latency          fault.Latency
		least, half, p99 time.Duration
		tolerance        float64
	}{
		"uniform":        {fault.Latency{Uniform: &fault.Uniform{Min: 100 * ms, Max: 300 * ms}}, 100 * ms, 200 * ms, 298 * ms, 0.03},
		"normal":         {fault.Latency{Normal: &fault.Normal{Mean: 200 * ms, Stddev: 20 * ms}}, 100 * ms, 200 * ms, 247 * ms, 0.03},
		"normal, cut":    {fault.Latency{Normal: &fault.Normal{Mean: 0, Stddev: 100 * ms}}, 0, 0, 233 * ms, 0.1},
		"lognormal":      {fault.Latency{Lognormal: &fault.Lognormal{Median: 200 * ms, Sigma: 0.5}}, 10 * ms, 200 * ms, 640 * ms, 0.06},
		"pareto":         {fault.Latency{Pareto: &fault.Pareto{Scale: 100 * ms, Shape: 2}}, 100 * ms, 141 * ms, 1000 * ms, 0.15},
		"overflow":       {fault.Latency{Pareto: &fault.Pareto{Scale: math.MaxInt64, Shape: 0.1}}, math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64, 0.01},
		"same with max":  {fault.Latency{Lognormal: &fault.Lognormal{Median: 200 * ms, Sigma: 0.5}, Max: 300 * ms}, 10 * ms, 200 * ms, 300 * ms, 0.03},
		"fixed, no draw": {fault.Latency{Fixed: 7 * ms}, 7 * ms, 7 * ms, 7 * ms, 0},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			draws := make([]time.Duration, 10_000)
			for i := range draws {
				draws[i] = fault.DelayOf(&c.latency, random)
			}
			slices.Sort(draws)
			near := func(got, want time.Duration) bool {
				return math.Abs(float64(got-want)) <= c.tolerance*float64(max(want, 10*ms))
			}
			half, p99 := draws[len(draws)/2], draws[len(draws)*99/100]
			if draws[0] < c.least || !near(half, c.half) || !near(p99, c.p99) {
				t.Errorf("least %v, half %v, 99 of 100 %v; want %v, %v, %v", draws[0], half, p99, c.least, c.half, c.p99)
			}
		})
	}
}

func TestOneSeedGivesOneDelay(t *testing.T) {
	f := &fault.Latency{Uniform: &fault.Uniform{Min: 0, Max: time.Hour}}
	took := func(seed uint64) (d time.Duration) {
		virtual(t, withSeed{f, seed}, healthy("hi"), func(t *testing.T, client *http.Client, _ *outcome) {
			start := time.Now()
			describe(client.Get("http://t/"))
			d = time.Since(start)
		})
		return d
	}
	if a, b, c := took(1), took(1), took(2); a != b || a == c || a == 0 {
		t.Errorf("seeds 1, 1 and 2 give %v, %v and %v", a, b, c)
	}
}
