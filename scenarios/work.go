package scenarios

import (
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// Work keeps a client busy: calls that begin one after the other at a steady pace, whether those before have ended or not.
// The zero value is no work: each client makes one call.
type Work struct {
	Every   time.Duration `yaml:"every" doc:"from the begin of one call of a client to that of its next"`
	Calls   int           `yaml:"calls" doc:"how many calls each client makes"`
	For     time.Duration `yaml:"for" doc:"how long calls begin, in place of calls"`
	Workers int           `yaml:"workers" doc:"how many calls of a client go on at a time; the next waits for one to end; default any number"`
}

// The bounds of work. Beyond them a run would measure the machine and not the client.
const (
	fastest  = time.Millisecond
	maxCalls = 100_000
)

// IsZero reports whether there is no work.
func (w Work) IsZero() bool { return w == Work{} }

// Number is how many calls each client makes, 0 without work.
func (w Work) Number() int {
	if w.For > 0 && w.Every > 0 {
		return int((w.For + w.Every - 1) / w.Every)
	}
	return w.Calls
}

// Lasts is the time from the begin of a client's first call to when one after the last would begin.
func (w Work) Lasts() time.Duration { return time.Duration(w.Number()) * w.Every }

// Shared is the work for clients of which each call makes n requests, so that the requests keep the pace.
func (w Work) Shared(n int) Work {
	if n <= 1 {
		return w
	}
	w.Calls = (w.Calls + n - 1) / n
	w.Every *= time.Duration(n)
	return w
}

// Validate wants a pace, an end, and workers that make a difference.
func (w *Work) Validate(n strict.Node) {
	if _, ok := n.Field("every"); !ok {
		n.Fail("every: say how far apart calls begin, as in work: {every: 100ms, calls: 200}")
		return
	}
	if w.Every < fastest {
		n.At("every").Fail("every: %v is too short to be kept; want at least %v", w.Every, fastest)
		return
	}
	switch strict.ExactlyOne(n, "calls", "for") {
	case "calls":
		strict.Between(n, "calls", w.Calls, 2, maxCalls)
	case "for":
		if w.For <= w.Every {
			n.At("for").Fail("for: %v is over before a second call begins; want more than %v (every)", w.For, w.Every)
		} else if w.Number() > maxCalls {
			n.At("for").Fail("for: %v means %d calls; want %d at most", w.For, w.Number(), maxCalls)
		}
	default:
		return
	}
	if _, ok := n.Field("workers"); !ok {
		return
	}
	strict.AtLeast(n, "workers", w.Workers, 1)
	if calls := w.Number(); w.Workers > calls {
		n.At("workers").Fail("workers: %d have nothing to do with %d calls; want fewer, or leave it out", w.Workers, calls)
	}
}
