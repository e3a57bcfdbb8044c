package journal

import "time"

// Exchange is one entry that is being written. Its methods are safe for concurrent use, each may be called at any time,
// and none changes an entry that was closed.
type Exchange struct {
	journal *Journal
	run     uint64
	seq     uint64
	at      time.Duration

	// The chunk stays reachable from here after the journal dropped it, so an answer that comes late, or in the next run,
	// does no harm.
	chunk *chunk
	index int
}

// Seq returns the entry's number in order of arrival, from 1.
func (x *Exchange) Seq() uint64 { return x.seq }

// At returns when the request arrived, since the run began.
func (x *Exchange) At() time.Duration { return x.at }

// write changes the record unless it was closed.
func (x *Exchange) write(change func(r *record, t *texts)) {
	x.journal.mu.Lock()
	defer x.journal.mu.Unlock()
	if r := &x.chunk.records[x.index]; r.flags&open != 0 {
		before := len(x.chunk.texts.bytes)
		change(r, &x.chunk.texts)
		if !x.chunk.dropped {
			x.journal.text += len(x.chunk.texts.bytes) - before
		}
	}
}

// Body notes the body as it was received: the hash and the number of its bytes, and whether all of it came.
func (x *Exchange) Body(sum uint64, n int64, whole bool) {
	x.write(func(r *record, _ *texts) {
		r.bodySum, r.bodyLen, r.flags = sum, n, r.flags&^bodyWhole
		if whole {
			r.flags |= bodyWhole
		}
	})
}

// Early notes that a fault is to act before the body was read.
func (x *Exchange) Early() { x.write(func(r *record, _ *texts) { r.flags |= early }) }

// Handshake notes why the TLS handshake failed.
func (x *Exchange) Handshake(why string) {
	x.write(func(r *record, t *texts) { r.handshake = t.add(why) })
}

// Acted notes the rule that applied and the fault it injected. The last call counts.
func (x *Exchange) Acted(rule, fault string) {
	x.write(func(r *record, t *texts) {
		r.rule, r.fault = t.add(rule), t.add(fault)
		x.journal.signal()
	})
}

// Answered notes the status and the Retry-After header as sent. Call it before the first byte goes out, so that whoever
// got the answer finds it in the journal. The last call counts.
func (x *Exchange) Answered(status int, retryAfter string) {
	x.ending(func(e *ending, r *record) {
		r.status, e.retryAfter = small(status), retryAfter
		x.journal.signal()
	})
}

// Told notes what else the answer tells the client. Call it before Answered, for the same reason. The last call counts.
func (x *Exchange) Told(told Told) {
	x.ending(func(e *ending, _ *record) { e.Told = told })
}

// Sends notes how often the request was sent to the upstream, where it was not once with an answer. The last call counts.
func (x *Exchange) Sends(n int) {
	x.ending(func(e *ending, _ *record) { e.sends = int32(n) })
}

// ending changes what is packed of the answer.
func (x *Exchange) ending(change func(e *ending, r *record)) {
	var room [64]byte
	x.write(func(r *record, t *texts) {
		var e ending
		e.unpack(t.get(r.told))
		change(&e, r)
		r.told = t.add(string(e.pack(room[:0])))
	})
}

// Asked notes the status that the upstream gave.
func (x *Exchange) Asked(status int) {
	x.write(func(r *record, _ *texts) { r.upstream = small(status) })
}

// Cut notes that the answer was broken off.
func (x *Exchange) Cut() { x.write(func(r *record, _ *texts) { r.flags |= cut }) }

// Unprocessed notes that the client is told that nothing was done with the request.
func (x *Exchange) Unprocessed() { x.write(func(r *record, _ *texts) { r.flags |= unprocessed }) }

// Left notes that the client went away now. The first call counts; one after Close says nothing.
func (x *Exchange) Left() {
	x.write(func(r *record, _ *texts) {
		if r.gone == 0 {
			r.gone = max(1, int64(x.journal.clock.Since(x.journal.began))) // 0 would mean that it stayed
		}
	})
}

// Missed notes that nobody was there to take the answer: the client had left before it was sent.
func (x *Exchange) Missed() {
	x.ending(func(e *ending, r *record) { r.status, *e = 0, ending{sends: e.sends} })
	x.Left()
}

// Over notes that the exchange ends now. Call it before the connection is broken off: a client that comes back at once, or by a
// clock that runs faster, may be here again before Close. The first call counts.
func (x *Exchange) Over() {
	x.write(func(r *record, _ *texts) {
		if r.took == 0 {
			r.took = int64(x.journal.clock.Since(x.journal.began) - x.at)
		}
	})
}

// Close ends the exchange: the last byte was handed over, or the fault took effect, now or when Over said so. Later calls do
// nothing.
func (x *Exchange) Close() {
	j := x.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	r := &x.chunk.records[x.index]
	if r.flags&open == 0 || x.run != j.run {
		return
	}
	r.flags &^= open
	if r.took == 0 {
		r.took = int64(j.clock.Since(j.began) - x.at)
	}
	j.open--
	j.signal()
}

// small keeps a status in 16 bits; net/http knows none that needs more.
func small(status int) uint16 { return uint16(max(0, min(status, 1<<16-1))) }
