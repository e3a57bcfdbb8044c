package faultserver_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

func TestWait(t *testing.T) {
	type reached struct {
		Requests int
		InFlight int           `json:"in_flight"`
		Quiet    time.Duration `json:"quiet_ns"`
		Elapsed  time.Duration `json:"elapsed_ns"`
	}
	const ms = time.Millisecond
	for _, c := range []struct {
		name, query string
		traffic     func(t *testing.T, w *world, later *sync.WaitGroup)
		status      int
		took        time.Duration
		want        reached
		detail      string
	}{
		{"enough came before", "requests=2", func(t *testing.T, w *world, later *sync.WaitGroup) { w.do(t, "GET /"); w.do(t, "GET /") }, 200, 0, reached{Requests: 2}, ""},
		{"enough come", "requests=2", func(t *testing.T, w *world, later *sync.WaitGroup) {
			later.Go(func() { time.Sleep(3 * second); w.do(t, "GET /"); w.do(t, "GET /") })
		}, 200, 3*second + 10*ms, reached{Requests: 2, Quiet: 10 * ms, Elapsed: 3*second + 10*ms}, ""},
		{"one that hangs has come", "requests=1&fault=hang", func(t *testing.T, w *world, later *sync.WaitGroup) {
			w.use(t, faultserver.Rule{Fault: fault.Of("hang", &fault.Hang{})})
			later.Go(func() { time.Sleep(second); w.do(t, "GET /") })
		}, 200, second + 10*ms, reached{Requests: 1, InFlight: 1, Elapsed: second + 10*ms}, ""},
		{"too few come", "requests=3&timeout=5s", func(t *testing.T, w *world, later *sync.WaitGroup) { w.do(t, "GET /") }, 409, 5 * second,
			reached{Requests: 1, Quiet: 5 * second, Elapsed: 5 * second}, "5s went by and 1 of 3 requests came"},
		{"the default is 30s", "requests=1", func(*testing.T, *world, *sync.WaitGroup) {}, 409, 30 * second,
			reached{Quiet: 30 * second, Elapsed: 30 * second}, "30s went by and 0 of 1 requests came"},
		{"quiet from the start", "idle=2s", func(*testing.T, *world, *sync.WaitGroup) {}, 200, 2 * second, reached{Quiet: 2 * second, Elapsed: 2 * second}, ""},
		{"quiet for long", "idle=2s", func(t *testing.T, w *world, later *sync.WaitGroup) { w.do(t, "GET /"); time.Sleep(time.Minute) }, 200, 0,
			reached{Requests: 1, Quiet: time.Minute, Elapsed: time.Minute}, ""},
		{"quiet after the last", "idle=2s", func(t *testing.T, w *world, later *sync.WaitGroup) {
			later.Go(func() {
				for range 5 {
					w.do(t, "GET /")
					time.Sleep(1500 * ms)
				}
			})
		}, 200, 8 * second, reached{Requests: 5, Quiet: 2 * second, Elapsed: 8 * second}, ""},
		{"both", "requests=1&idle=2s", func(t *testing.T, w *world, later *sync.WaitGroup) {
			later.Go(func() { time.Sleep(10 * second); w.do(t, "GET /") })
		}, 200, 12 * second,
			reached{Requests: 1, Quiet: 2 * second, Elapsed: 12 * second}, ""},
		{"never quiet", "idle=2s&timeout=4s", func(t *testing.T, w *world, later *sync.WaitGroup) {
			later.Go(func() {
				for range 5 {
					w.do(t, "GET /")
					time.Sleep(1500 * ms)
				}
			})
		}, 409, 4 * second, reached{Requests: 3, Quiet: second, Elapsed: 4 * second}, "4s went by and it was quiet for 1s, not for 2s"},
		{"one goes on", "idle=1s&timeout=4s", func(t *testing.T, w *world, later *sync.WaitGroup) {
			w.use(t, faultserver.Rule{When: schedule.Of(schedule.First(1)), Fault: fault.Of("hang", &fault.Hang{})})
			later.Go(func() { w.do(t, "GET /") })
		}, 409, 4 * second, reached{Requests: 1, InFlight: 1, Elapsed: 4 * second}, "4s went by and requests are still going on: 1"},
		{"others do not count", "idle=1s&path=/a", func(t *testing.T, w *world, later *sync.WaitGroup) {
			later.Go(func() {
				w.do(t, "GET /a")
				for range 50 {
					w.do(t, "GET /b")
					time.Sleep(100 * ms)
				}
			})
		}, 200, second, reached{Requests: 1, Quiet: second, Elapsed: second}, ""},
		{"counted anew after a reset", "requests=2&since=1", func(t *testing.T, w *world, later *sync.WaitGroup) {
			w.do(t, "GET /")
			later.Go(func() { time.Sleep(second); w.Reset(); w.do(t, "GET /"); time.Sleep(second); w.do(t, "GET /") })
		}, 200, 2*second + 10*ms, reached{Requests: 2, Quiet: 10 * ms, Elapsed: second + 10*ms}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			piloted(t, func(t *testing.T, w *world, p *pilot) {
				var later sync.WaitGroup
				c.traffic(t, w, &later)
				began := time.Now()
				var answer struct {
					reached
					Detail  string
					Reached *reached
				}
				status := p.ask(t, "GET /v1/wait?"+c.query, "").read(t, &answer)
				got := answer.reached
				if answer.Reached != nil {
					got = *answer.Reached
				}
				if took := time.Since(began); status != c.status || took != c.took || answer.Detail != c.detail {
					t.Errorf("%d after %v, %q", status, took, answer.Detail)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Error(diff)
				}
				w.Close() // ends what hangs
				later.Wait()
			})
		})
	}
}
