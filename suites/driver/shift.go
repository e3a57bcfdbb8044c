package driver

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/scenarios"
)

// worker is a client that makes one call after the other, with what it remembers of those before.
type worker interface {
	Client
	// work makes the calls of a shift and returns when all have ended.
	work(ctx context.Context, t Target, s *shift) (Exit, Output)
	// works reports whether it was made for that.
	works() bool
}

// Works reports whether client can be kept at work, as scenarios with work want: a Go function, or a command that reads a
// line for each call (CommandWorker, CommandShared).
func Works(client Client) bool {
	w, ok := client.(worker)
	return ok && w.works()
}

// shift gives a client its calls at the pace of a scenario's work.
type shift struct {
	client  string
	work    scenarios.Work
	due     time.Time
	elapsed func() time.Duration // on the clock of the journal
	free    chan struct{}        // holds one for each call that goes on; nil: any number may

	mu    sync.Mutex
	given []time.Duration // when the client got each call
}

// newShift begins at a time for the i-th of n clients, whose calls lie evenly between each other.
func newShift(w scenarios.Work, client string, began time.Time, i, n int) *shift {
	s := &shift{client: client, work: w, due: began.Add(w.Every * time.Duration(i) / time.Duration(n))}
	if now := time.Now(); s.due.Before(now) {
		s.due = now
	}
	if w.Workers > 0 {
		s.free = make(chan struct{}, w.Workers)
	}
	return s
}

// oneCall gives a client one call, at once.
func oneCall(t Target) *shift {
	return &shift{client: t.Client(), work: scenarios.Work{Calls: 1}, elapsed: func() time.Duration { return 0 }}
}

// next waits until the next call is to begin, and returns its id; not ok when there is none any more. Each call has to be
// ended by done.
func (s *shift) next(ctx context.Context) (id string, ok bool) {
	if len(s.given) == s.work.Number() || !until(ctx, s.due) {
		return "", false
	}
	if s.free != nil {
		select {
		case s.free <- struct{}{}:
		case <-ctx.Done():
			return "", false
		}
	}
	if now := time.Now(); s.work.Workers > 0 && now.After(s.due) {
		s.due = now // what could not begin in time is not caught up with
	}
	s.due = s.due.Add(s.work.Every)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = append(s.given, s.elapsed())
	return fmt.Sprintf("%s.%d", s.client, len(s.given)), true
}

// done tells that a call has ended.
func (s *shift) done() {
	if s.free != nil {
		<-s.free
	}
}

// back takes back the call that was given last: the client did not take it.
func (s *shift) back() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given = s.given[:len(s.given)-1]
}

// times returns when the client got its calls.
func (s *shift) times() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given[:len(s.given):len(s.given)]
}

// until waits for a time; false when ctx ends before.
func until(ctx context.Context, at time.Time) bool {
	left := time.Until(at)
	if left <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

type callKey struct{}

// CallID names the call of a scenario's work that ctx belongs to; "" outside of one. A client that sends it as
// X-Retrygate-Call with each attempt is judged call by call.
func CallID(ctx context.Context) string {
	id, _ := ctx.Value(callKey{}).(string)
	return id
}

// tagged sends the id of the call with each request.
type tagged struct{ http.RoundTripper }

func (t tagged) RoundTrip(r *http.Request) (*http.Response, error) {
	if id := CallID(r.Context()); id != "" && r.Header.Get(faultserver.CallHeader) == "" {
		r = r.Clone(r.Context())
		r.Header.Set(faultserver.CallHeader, id)
	}
	return t.RoundTripper.RoundTrip(r)
}

// CloseIdleConnections lets http.Client reach the transport beneath.
func (t tagged) CloseIdleConnections() {
	if c, ok := t.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (function) works() bool { return true }

// work makes each call in a goroutine of its own.
func (f function) work(ctx context.Context, t Target, s *shift) (Exit, Output) {
	h := f.client(t)
	defer h.CloseIdleConnections()
	h.Transport = tagged{h.Transport}
	var all sync.WaitGroup
	var sum total
	exit, output := guard(ctx, f.name, t, func(pacing context.Context) error { // which ends before the calls do
		call := f.start()
		for {
			id, ok := s.next(pacing)
			if !ok {
				return nil
			}
			all.Go(func() {
				defer s.done()
				sum.add(guard(context.WithValue(ctx, callKey{}, id), f.name, t, func(ctx context.Context) error { return call(ctx, h, t.URL) }))
			})
		}
	})
	if exit.Err != nil || exit.Alive {
		return exit, output
	}
	all.Wait()
	return sum.exit(s.work.Number() - len(s.times()))
}

// total sums up how the calls of a client ended.
type total struct {
	mu     sync.Mutex
	calls  int
	failed int
	last   Exit
	output Output
}

func (t *total) add(exit Exit, output Output) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	if exit.Err == nil && !exit.Alive && exit.lost == "" {
		return
	}
	t.failed++
	if exit.Alive || !t.last.Alive && t.last.lost == "" {
		t.last, t.output = exit, output
	}
}

// exit is how the client ended, with so many calls that it did not take.
func (t *total) exit(left int) (Exit, Output) {
	switch {
	case t.last.Alive:
		return t.last, t.output
	case t.last.lost != "":
		lost := t.last
		lost.Untaken = left
		return lost, t.output
	case t.failed == 1 && t.calls == 1:
		return Exit{Code: -1, Untaken: left, Err: t.last.Err}, t.output
	case t.failed > 0:
		return Exit{Code: -1, Untaken: left, Err: fmt.Errorf("%d of %d calls failed, the last with: %w", t.failed, t.calls, t.last.Err)}, t.output
	default:
		return Exit{Code: -1, Untaken: left}, Output{}
	}
}
