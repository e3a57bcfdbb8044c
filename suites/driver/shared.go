package driver

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// shared starts the process of a run whose clients share one, and returns what has each of them wait for its turn to begin.
// They begin a few at a time, each when those before it have come back or could have: what they load is in each other's way
// more than that of processes is. The process has its turn until all of them have.
func (r *run) shared(ctx context.Context) (turn func(context.Context) (begin func() error, started, loaded func())) {
	begin, started, loaded := r.options.Slots.turn(ctx, r.options.Start, r.keeps())
	r.crew.target = Target{Scenario: r.scenario.Name, trust: r.trust, clock: r.clock, faketime: r.faketime}
	go r.crew.live(begin)
	lastStarted, lastLoaded := last(len(r.targets), started), last(len(r.targets), loaded)
	lines := NewSlots(0) // for their turns alone
	return func(ctx context.Context) (func() error, func(), func()) {
		next, lineStarted, lineLoaded := lines.turn(ctx, r.options.Start, 1)
		begin := func() error {
			<-r.crew.ready
			if r.crew.failed != nil {
				return r.crew.failed
			}
			return next()
		}
		isStarted, isLoaded := sync.OnceFunc(lastStarted), sync.OnceFunc(lastLoaded)
		return begin, func() { lineStarted(); isStarted() }, func() { lineLoaded(); isStarted(); isLoaded() }
	}
}

// last returns what calls f when it is called for the n-th time.
func last(n int, f func()) func() {
	var calls atomic.Int64
	return func() {
		if calls.Add(1) == int64(n) {
			f()
		}
	}
}

// cutOff is why a client whose process ended among others' calls was stopped: which of them it was for shows nowhere.
func (r *run) cutOff(exit Exit) *stopped {
	ago := lookEvery // its connections end a little before that is noticed
	select {
	case <-r.crew.gone:
		ago += time.Since(r.crew.at)
	default:
	}
	return &stopped{
		why: "was cut off when the process that it shares with other clients " + exit.lost,
		at:  max(0, r.server.Journal().Elapsed()-r.clock.Scale(ago)),
	}
}

// dismiss ends the process that the clients shared. They have ended.
func (r *run) dismiss(ctx context.Context) {
	if r.crew == nil {
		return
	}
	patient := ctx.Err() == nil
	for _, e := range r.ends {
		patient = patient && e.Stopped == ""
	}
	if !r.crew.end(patient) {
		return
	}
	for i := range r.ends {
		e := &r.ends[i]
		e.Exit = r.crew.process.exit()
		e.Message = e.message()
	}
}
