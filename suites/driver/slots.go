package driver

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// DefaultSlots is how many clients may run at a time unless told otherwise.
const DefaultSlots = 64

// Slots limits how many clients run at a time over all scenarios that share it. Waiting scenarios start in the order in
// which they came.
type Slots struct {
	size     int64
	sem      *semaphore.Weighted
	starting *semaphore.Weighted
}

// NewSlots allows n clients at a time; 0 or less means DefaultSlots.
func NewSlots(n int) *Slots {
	if n <= 0 {
		n = DefaultSlots
	}
	return &Slots{
		size: int64(n), sem: semaphore.NewWeighted(int64(n)), starting: semaphore.NewWeighted(int64(max(2, runtime.NumCPU()))),
	}
}

// acquire waits for room for so many processes at once, or for all the room there is if that is less: the clients of one
// scenario start together, so that their spread can be compared. Clients that share a process take the room of one.
func (s *Slots) acquire(ctx context.Context, processes, clients int) (*seats, error) {
	held := min(int64(processes), s.size)
	if err := s.sem.Acquire(ctx, held); err != nil {
		return nil, err
	}
	return &seats{slots: s, held: held, clients: int64(clients)}, nil
}

// seats is the room that the clients of one scenario have.
type seats struct {
	slots         *Slots
	mu            sync.Mutex
	held, clients int64 // clients that have not ended
}

// leave gives the room of one client that has ended to the next scenario, unless another of the same scenario needs it.
func (s *seats) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients--; s.clients < s.held {
		s.held--
		s.slots.sem.Release(1)
	}
}

// release gives back what is left of the room.
func (s *seats) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots.sem.Release(s.held)
	s.held, s.clients = 0, 0
}

// turn lets only as many clients start at a time as the machine has cores, and two at least: twenty interpreters that load
// together would be in each other's way, and their waits would show it. begin waits for the turn; started, which may be
// called more than once, gives it to the next, and so does the passing of the most time that a start may take. It keeps the turn
// for a part of the time that the client took to start, or until loaded is called: what a program loads between its first
// request and its first retry is part of a wait.
func (s *Slots) turn(ctx context.Context, most time.Duration, keep float64) (begin func() error, started, loaded func()) {
	var once sync.Once
	var began time.Time
	held := make(chan struct{})
	release := sync.OnceFunc(func() { s.starting.Release(1) })
	begin = func() error {
		if err := s.starting.Acquire(ctx, 1); err != nil {
			return context.Cause(ctx)
		}
		began = time.Now()
		close(held)
		time.AfterFunc(most, release)
		return nil
	}
	started = func() {
		once.Do(func() {
			select {
			case <-held:
				time.AfterFunc(min(time.Duration(keep*float64(time.Since(began))), most), release)
			default: // it never had the turn
			}
		})
	}
	loaded = func() {
		select {
		case <-held:
			release()
		default:
		}
	}
	return begin, started, loaded
}
