package faultserver_test

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// Every request to a server of limited capacity is journalled with how long it waited, and with how it ended.
func TestCapacityIsJournalled(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "busy", Fault: fault.Of("capacity", &fault.Capacity{Service: time.Second, Queue: new(2)})})
		w.client.Timeout = 1500 * time.Millisecond
		var clients sync.WaitGroup
		for i := range 4 {
			clients.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				w.do(t, "GET /")
			})
		}
		clients.Wait()
		synctest.Wait()
		for i, want := range []struct {
			status     int
			took, gone time.Duration
		}{
			{200, time.Second, 0},
			{0, 1500 * time.Millisecond, 1501 * time.Millisecond}, // its turn had come, but it was not done
			{0, 1500 * time.Millisecond, 1502 * time.Millisecond},
			{503, 0, 0},
		} {
			e := w.Journal().Entries()[i]
			if e.Status != want.status || e.Took != want.took || e.Gone != want.gone || e.Rule != "busy" || e.Fault != "capacity" || e.Open {
				t.Errorf("request %d: %+v", i+1, e)
			}
		}
		if fired := w.Fired()["busy"]; fired != 4 {
			t.Errorf("fired %d times", fired)
		}
	})
}

// Requests that wait end with the server, however long the queue.
func TestCapacityEndsWithTheServer(t *testing.T) {
	s := faultserver.New()
	url, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Fault: fault.Of("capacity", &fault.Capacity{Service: time.Hour})}}}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	var clients sync.WaitGroup
	for range 50 {
		clients.Go(func() {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
			if answer, err := transport.RoundTrip(r); err == nil {
				answer.Body.Close()
				t.Errorf("answered %s", answer.Status)
			}
		})
	}
	for changed := s.Journal().Changed(); s.Journal().Len() < 50; changed = s.Journal().Changed() {
		<-changed
	}
	start := time.Now()
	_ = s.Close()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("closing took %v", took)
	}
	clients.Wait()
	if open := s.Journal().Pending(); open != 0 {
		t.Errorf("%d entries are open", open)
	}
}

// A server whose plan is put to use anew has no queue.
func TestCapacityStartsAnewWithThePlan(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		rule := faultserver.Rule{Fault: fault.Of("capacity", &fault.Capacity{Service: time.Second, Queue: new(0)})}
		w.use(t, rule)
		go w.do(t, "GET /")
		time.Sleep(time.Millisecond)
		if got := w.do(t, "GET /"); got != 503 {
			t.Errorf("%d while the worker is busy", got)
		}
		w.use(t, rule)
		if got := w.do(t, "GET /"); got != 200 {
			t.Errorf("%d from a new plan", got)
		}
		time.Sleep(time.Minute)
	})
}
