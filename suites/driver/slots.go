package driver

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// DefaultSlots is how many clients may run at a time unless told otherwise.
const DefaultSlots = 32

// Slots limits how many clients run at a time over all scenarios that share it. Waiting scenarios start in the order in
// which they came.
type Slots struct {
	size int64
	sem  *semaphore.Weighted
}

// NewSlots allows n clients at a time; 0 or less means DefaultSlots.
func NewSlots(n int) *Slots {
	if n <= 0 {
		n = DefaultSlots
	}
	return &Slots{size: int64(n), sem: semaphore.NewWeighted(int64(n))}
}

// acquire waits for room for n clients at once, or for all the room there is if that is less: the clients of one scenario
// start together, so that their spread can be compared.
func (s *Slots) acquire(ctx context.Context, n int) (release func(), err error) {
	want := min(int64(n), s.size)
	if err := s.sem.Acquire(ctx, want); err != nil {
		return nil, err
	}
	return func() { s.sem.Release(want) }, nil
}
