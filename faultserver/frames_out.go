package faultserver

import (
	"encoding/binary"
	"net/http"
	"slices"
	"sync"
)

// outflow is what goes out.
type outflow struct {
	mu      sync.Mutex
	head    [frameHead]byte // of a frame, as far as it was written
	n       int             // bytes of it
	left    int             // bytes of the frame's payload to come
	skip    bool            // the frame is dropped
	patch   [4]byte         // what its payload begins with instead
	patches int             // bytes of that to come
	begun   bool            // one frame went out: the first is to be SETTINGS
	block   bool            // a block of headers goes on in the next frame
	pending []byte          // goes out between two frames
	changed []byte          // what is written in place of what was to be
}

// write passes on what net/http writes, in one go. The ends of frames are of no concern to it.
func (f *frames) write(p []byte) (n int, err error) {
	o := &f.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if f.closed() {
		return len(p), nil
	}
	o.changed = o.changed[:0]
	same := 0 // p[same:i] goes out as it is
	for i := 0; i < len(p); {
		if o.left > 0 {
			k := min(o.left, len(p)-i)
			if o.patches > 0 {
				k = min(k, o.patches)
			}
			if o.skip || o.patches > 0 {
				o.changed = append(o.changed, p[same:i]...)
				same = i + k
			}
			if o.patches > 0 {
				o.changed = append(o.changed, o.patch[4-o.patches:4-o.patches+k]...)
				o.patches -= k
			}
			i, o.left = i+k, o.left-k
			continue
		}
		if o.between() && len(o.pending) > 0 {
			o.changed = append(append(o.changed, p[same:i]...), o.pending...)
			same, o.pending = i, nil
		}
		split := o.n > 0
		k := copy(o.head[o.n:], p[i:])
		if o.n += k; o.n == frameHead {
			f.leaves(p[i+k:])
		}
		if split || o.n < frameHead || o.skip {
			o.changed = append(o.changed, p[same:i]...)
			same = i + k
			if o.n == frameHead && !o.skip {
				o.changed = append(o.changed, o.head[:]...)
			}
		}
		i += k
		if o.n == frameHead {
			o.n, o.begun = 0, true
		}
	}
	if err := f.flush(p, same); err != nil {
		return 0, err
	}
	return len(p), nil
}

// between reports whether another frame may go out now.
func (o *outflow) between() bool { return o.left == 0 && o.n == 0 && o.begun && !o.block }

// flush writes what was changed, and the rest of p as it is; or all of p.
func (f *frames) flush(p []byte, same int) error {
	o := &f.out
	send := p
	if len(o.changed) > 0 || same > 0 {
		o.changed = append(o.changed, p[same:]...)
		send = o.changed
	}
	if o.between() && len(o.pending) > 0 {
		send = slices.Concat(send, o.pending)
		o.pending = nil
	}
	if len(send) > 0 {
		if _, err := f.wire.Conn.Write(send); err != nil {
			return err
		}
	}
	f.finish()
	return nil
}

// leaves looks at the head of a frame that is to go out, of which the payload begins with so much.
func (f *frames) leaves(payload []byte) {
	o := &f.out
	length, kind, flags, id := readHead(o.head[:])
	o.left, o.skip, o.patches = length, false, 0
	o.block = (kind == frameHeaders || kind == frameContinuation) && flags&flagEndHeaders == 0
	switch kind {
	case frameData:
		if flags&flagEndStream != 0 {
			f.ends(id)
		}
	case frameHeaders:
		f.answers(id, flags&flagEndStream != 0, payload)
	case frameReset:
		f.resets(id, length)
	case frameGoAway:
		f.parts(length, payload)
	default:
		o.skip = id != 0 && kind != frameContinuation && f.above(id)
	}
}

// above reports whether a fault said that the stream is not processed.
func (f *frames) above(id uint32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.away != nil && id > f.away.last
}

// answers notes headers that go out. They go out whatever their stream, since they tell the client's decoder what it needs
// for those of others.
func (f *frames) answers(id uint32, ends bool, payload []byte) {
	f.mu.Lock()
	s, ok := f.open[id]
	refused := ok && !s.served
	switch {
	case ends:
		delete(f.open, id)
	case refused:
		s.served = true // it is told once
		f.open[id] = s
	}
	f.mu.Unlock()
	if refused {
		f.wire.refuse(ownStatus(payload))
	}
}

// ownStatus reads the status of an answer that net/http gives by itself: there are two, and one of them has a byte of its
// own (RFC 7541, appendix A).
func ownStatus(payload []byte) int {
	if len(payload) > 0 && payload[0] == 0x80|12 {
		return http.StatusBadRequest
	}
	return http.StatusRequestHeaderFieldsTooLarge
}

// resets gives the reset of a stream the code that a fault has chosen.
func (f *frames) resets(id uint32, length int) {
	f.mu.Lock()
	s, ok := f.open[id]
	delete(f.open, id)
	f.out.skip = f.away != nil && id > f.away.last
	skip := f.out.skip
	f.mu.Unlock()
	switch {
	case skip:
	case ok && s.marked && length == 4:
		binary.BigEndian.PutUint32(f.out.patch[:], s.code)
		f.out.patches = 4
	case ok && !s.served:
		f.wire.refuse(0)
	}
}

// parts looks at a GOAWAY that is net/http's own: it may not take back what one before it said.
func (f *frames) parts(length int, payload []byte) {
	f.mu.Lock()
	away := f.away
	f.mu.Unlock()
	switch {
	case away != nil && length >= 8:
		binary.BigEndian.PutUint32(f.out.patch[:], away.last)
		f.out.patches = 4
	case away == nil && len(payload) >= 8 && binary.BigEndian.Uint32(payload[4:]) != 0:
		f.wire.refuse(0)
	}
}
