package faultserver_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

func TestResetStartsCountersSchedulesAndClockAnew(t *testing.T) {
	chance := 0.5
	for _, c := range []struct {
		name string
		rule faultserver.Rule
	}{
		{"steps", faultserver.Rule{Steps: []fault.Spec{status(503), status(429), fault.Pass(), status(500)}}},
		{"sweep per call", faultserver.Rule{Per: faultserver.PerCall, Sweep: []fault.Spec{status(400), status(404)}}},
		{"first", faultserver.Rule{When: schedule.Of(schedule.First(2)), Fault: status(503)}},
		{"window", faultserver.Rule{When: schedule.Of(schedule.Window{From: time.Second, For: 3 * time.Second}), Fault: status(503)}},
		{"chance", faultserver.Rule{Chance: &chance, Fault: status(503)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				w.use(t, c.rule)
				play := func() (codes []int) {
					for i := range 8 {
						codes = append(codes, w.do(t, "GET /", faultserver.CallHeader, string(rune('a'+i))))
						time.Sleep(time.Second)
					}
					return codes
				}
				first := play()
				w.Reset()
				if w.Journal().Len() != 0 || w.Fired()["rule-1"] != 0 || w.Journal().Elapsed() != 0 {
					t.Errorf("%d entries, fired %v, %v gone by", w.Journal().Len(), w.Fired(), w.Journal().Elapsed())
				}
				if again := play(); !slices.Equal(again, first) || slices.Min(first) == slices.Max(first) {
					t.Errorf("at first %d, after the reset %d", first, again)
				}
				if e := w.last(t); e.Seq != 8 || e.At != 7*time.Second {
					t.Errorf("the last is #%d at %v", e.Seq, e.At)
				}
			})
		})
	}
}

func TestResetForgetsWhatIsGoingOn(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "late", When: schedule.Of(schedule.First(1)), Fault: fault.Of("late", faultFunc(
			func(rw http.ResponseWriter, r *http.Request, next http.Handler) {
				time.Sleep(time.Minute)
				next.ServeHTTP(rw, r)
			}))})
		var old sync.WaitGroup
		old.Go(func() {
			if code := w.do(t, "GET /old"); code != 200 {
				t.Errorf("the request that was going on got %d", code)
			}
		})
		time.Sleep(time.Second)
		w.Reset()
		old.Wait()
		if n, fired := w.Journal().Len(), w.Fired()["late"]; n != 0 || fired != 0 {
			t.Errorf("it left %d entries, and fired is %d", n, fired)
		}
		w.do(t, "GET /new")
		if e := w.last(t); e.Path != "/new" || e.Rule != "late" {
			t.Errorf("%+v", e)
		}
	})
}

// Clients storm while the run starts anew again and again. The first three hits of each run meet the fault: a request that
// was journalled in one run and counted in another would make them more, or fewer.
func TestResetIsAtomicUnderLoad(t *testing.T) {
	const clients, resets = 200, 100
	s := faultserver.New()
	defer s.Close()
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "r", Steps: []fault.Spec{status(503), status(503), status(503)}}}}); err != nil {
		t.Fatal(err)
	}
	var storm sync.WaitGroup
	stop := make(chan struct{})
	for range clients {
		storm.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
				}
			}
		})
	}
	faulty := func() (n, of int) {
		entries := s.Journal().Entries()
		for _, e := range entries {
			if e.Rule == "r" {
				n++
			}
		}
		return n, len(entries)
	}
	for i := range resets {
		s.Reset()
		for i%10 == 0 && s.Journal().Len() < 50 { // the others meet a run that has just begun
			<-s.Journal().Changed()
		}
		if n, of := faulty(); n > 3 {
			t.Errorf("%d of %d met the fault, want 3", n, of)
		}
	}
	for s.Journal().Len() < 50 { // the last run has to begin as well
		<-s.Journal().Changed()
	}
	close(stop)
	storm.Wait()
	if n, of := faulty(); n != 3 || s.Fired()["r"] != 3 {
		t.Errorf("%d of %d met the fault, fired is %v, want 3", n, of, s.Fired())
	}
}
