package playbook

import "time"

// When repeats are beyond all bounds. Where it is sure that requests are the same, by an id or a hash, the contract's own
// bound on repeats of one payload holds. Where requests only look alike (a log without bodies), they may be those of many
// users or of a poller; then it takes many in a row without a success between them, and a pace.
const (
	leastRun     = 30  // repeats in a row after answers that forbid them
	leastPerMin  = 10  // of these, a minute
	leastPending = 10  // repeats in a row after passing failures, at the contract's rate
	usualPace    = 2.0 // times a client's own usual pace, up to which failures explain themselves
)

// beyond reports whether a run has gone beyond all bounds, as far as can be said while it goes on.
func (r rules) beyond(s *stream, x *run) bool {
	switch {
	case x.identified:
		return x.inMinute > r.payload || r.attempts > 0 && x.attempts > 3*r.attempts
	case x.forbidden:
		return x.redundant >= leastRun && x.inMinute >= leastPerMin
	default:
		return x.redundant >= leastPending && float64(s.minute.redundant) > r.perMinute
	}
}

// accused reports whether the stream is one of a client that loops. Its own pace while all was well may still explain it,
// unless requests carry ids: heartbeats have equal bodies too.
func (s *stream) accused() bool {
	return s.loops > 0 && (s.exact*2 > s.repeats || float64(s.storm.peak) > usualPace*float64(s.calm))
}

// close counts the last minute, once all entries were added.
func (s *stream) close() { s.clock(s.last/time.Minute*time.Minute + time.Minute) }
