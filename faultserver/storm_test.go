package faultserver_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

// A storm in small: calls come at half of what the server can do; each waits a second for its answer and half a second
// before it tries again. What becomes of a short outage follows from the retries, and from what the server does with its
// queue. In the figures of the incident, all times are ten times as long, and it went on for hours.
const (
	callRate   = 10.0 // calls a second
	serverRate = 20.0
	patience   = time.Second
	pause      = 500 * time.Millisecond
	stormSpan  = 48 * time.Second // twice what a queue takes to drain after 12 s: L/(1-rho) = 24 s
)

// storm is the sender's side.
type storm struct {
	client  *http.Client
	retries int // -1: for ever

	begun, ended, attempts, lost atomic.Int64
}

func (s *storm) call(ctx context.Context) {
	s.begun.Add(1)
	for k := 0; ctx.Err() == nil; k++ {
		s.attempts.Add(1)
		if s.try(ctx) {
			s.ended.Add(1)
			return
		}
		if k == s.retries {
			s.ended.Add(1)
			s.lost.Add(1)
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

func (s *storm) try(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://api.test/", nil)
	answer, err := s.client.Do(r)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == 200
}

// rage sends calls until the span is over and returns how many are pending then.
func (s *storm) rage(ctx context.Context) (pending int64) {
	ctx, cancel := context.WithTimeout(ctx, stormSpan)
	var calls sync.WaitGroup
	defer calls.Wait()
	defer cancel()
	for random := rand.New(rand.NewPCG(7, 7)); ; {
		select {
		case <-time.After(time.Duration(random.ExpFloat64() / callRate * float64(time.Second))):
			calls.Go(func() { s.call(ctx) })
		case <-ctx.Done():
			return s.begun.Load() - s.ended.Load()
		}
	}
}

// TestStorms plays the headlines of the model that the clauses rest on, over HTTP in virtual time.
func TestStorms(t *testing.T) {
	half := int(serverRate * patience.Seconds() / 2)
	for name, c := range map[string]struct {
		outage   time.Duration
		retries  int
		capacity *fault.Capacity
		recovers bool
		loses    bool // calls
	}{
		"retries for ever":                       {12 * time.Second, -1, &fault.Capacity{}, false, false},
		"retries for ever after a short outage":  {time.Second, -1, &fault.Capacity{}, true, false},
		"retries for ever against bounded queue": {12 * time.Second, -1, &fault.Capacity{Queue: &half}, true, false},
		"three retries":                          {12 * time.Second, 3, &fault.Capacity{}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				c.capacity.Rate = serverRate
				w.use(t,
					faultserver.Rule{Name: "outage", When: schedule.Of(&schedule.Window{For: c.outage}), Fault: status(503)},
					faultserver.Rule{Name: "capacity", Fault: fault.Of("capacity", c.capacity)})
				s := &storm{client: w.client, retries: c.retries}
				pending := s.rage(t.Context())
				if recovered := float64(pending) < callRate*patience.Seconds()/2+10; recovered != c.recovers || (s.lost.Load() > 0) != c.loses {
					t.Errorf("of %d calls %d are pending and %d lost, after %d attempts", s.begun.Load(), pending, s.lost.Load(), s.attempts.Load())
				}
			})
		})
	}
}
