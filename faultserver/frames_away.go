package faultserver

import "time"

// Times of connections that go away.
const (
	awayLimit = time.Minute            // how long the streams that are still served may take
	farewell  = 500 * time.Millisecond // how long the client may take to close, and send what it was about to
)

// goAway sends GOAWAY for the request on a stream, which is not processed, unless all of them are: then only those that come
// behind are not. What was begun counts as processed, so if that is true of a stream above, the one in question is below the
// last and has to be refused by itself; so has it where the connection goes away already. It reports whether it has.
func (f *frames) goAway(id uint32, all bool, code uint32, debug string, r *rule, name string) (refuse bool) {
	f.out.mu.Lock() // first: whoever writes must not find a parting without its frame
	defer f.out.mu.Unlock()
	last, already := f.leave(id, all, r, name)
	if already {
		return !all
	}
	f.out.pending = goAway(last, code, debug)
	f.out.changed = f.out.changed[:0]
	_ = f.flush(nil, 0) // when it fails the connection is broken, and net/http will find out
	return !all && id <= last
}

// leave decides on the last stream that is processed, unless that is decided already.
func (f *frames) leave(id uint32, all bool, r *rule, name string) (last uint32, already bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away != nil {
		return 0, true
	}
	last = f.begun
	if !all && last <= id {
		last = max(id, 2) - 2
	}
	f.away = &parting{last: last, rule: r, fault: name}
	f.away.limit = time.AfterFunc(awayLimit, func() { _ = f.wire.Conn.Close() })
	return last, false
}

// part ends a connection whose last stream the client has ended.
func (f *frames) part() {
	f.out.mu.Lock()
	defer f.out.mu.Unlock()
	f.finish()
}

// finish ends the connection once GOAWAY went out and all streams have ended that it did not refuse. out.mu is held.
func (f *frames) finish() {
	if !f.finished() {
		return
	}
	// The client may be about to send: to close over what nobody reads would be a reset, and could cost it the GOAWAY.
	_ = f.wire.CloseWrite()
	time.AfterFunc(farewell, func() { _ = f.wire.Conn.Close() })
}

// finished reports, once, that the connection is to be ended.
func (f *frames) finished() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away == nil || f.away.shut || !f.out.between() {
		return false
	}
	for id := range f.open {
		if id <= f.away.last {
			return false
		}
	}
	f.away.shut = true
	f.away.limit.Stop()
	return true
}

// closed reports whether the connection was ended, so that nothing can go out.
func (f *frames) closed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.away != nil && f.away.shut
}

// release lets go of what waits for a connection that is closed.
func (f *frames) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away != nil {
		f.away.limit.Stop()
	}
}
