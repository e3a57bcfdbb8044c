package faultserver

import (
	"errors"
	"io"
)

// inflow is what comes in. It belongs to the goroutine that reads.
type inflow struct {
	buffer   []byte // buffer[from:to] was read and not passed on
	from, to int
	ready    []byte          // goes before that: a head, or a frame put in
	head     [frameHead]byte // of the frame that passes
	left     int             // bytes of its payload to come
	block    uint32          // a new request's block of headers goes on in the next frame; 0: none does
	last     bool            // the frame that passes is the last of the block: extra goes behind its payload
	extra    []byte          // the field that is put in, with a frame of its own if need be
	whole    []byte          // a head without a payload, and extra
	over     bool            // nothing more comes
}

// read passes on what comes, never a part of a frame's head: the flags stand there before the stream.
func (f *frames) read(p []byte) (n int, err error) {
	in := &f.in
	for n < len(p) {
		switch {
		case len(in.ready) > 0:
			k := copy(p[n:], in.ready)
			in.ready, n = in.ready[k:], n+k
		case in.left > 0 && in.to > in.from:
			k := copy(p[n:], in.buffer[in.from:min(in.to, in.from+in.left)])
			in.from, n = in.from+k, n+k
			f.passed(k)
		case in.left == 0 && in.to-in.from >= frameHead:
			copy(in.head[:], in.buffer[in.from:])
			in.from += frameHead
			f.enters()
		case n > 0 || in.over:
			if n == 0 {
				return 0, io.EOF
			}
			return n, nil
		case len(p) <= in.left: // a long payload goes straight through
			n, err = f.wire.Conn.Read(p)
			f.passed(n)
			return n, err
		default:
			if err := in.fill(f.wire.Conn); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// fill reads more. A head that breaks off passes as it is.
func (in *inflow) fill(from io.Reader) error {
	in.to = copy(in.buffer, in.buffer[in.from:in.to])
	in.from = 0
	n, err := from.Read(in.buffer[in.to:])
	in.to += n
	switch {
	case n > 0 || err == nil:
		return nil
	case errors.Is(err, io.EOF) && in.to > 0:
		in.ready, in.to, in.over = in.buffer[:in.to], 0, true
		return nil
	}
	return err
}

// enters looks at the head of the next frame.
func (f *frames) enters() {
	in := &f.in
	length, kind, flags, id := readHead(in.head[:])
	in.ready, in.left = in.head[:], length
	mine := false
	switch kind {
	case frameHeaders:
		mine = f.opens(id)
	case frameContinuation:
		mine = in.block != 0 && in.block == id
	case frameReset:
		if f.ends(id) {
			go f.part() // reading must not wait for whoever writes
		}
	}
	in.block = 0
	switch {
	case mine && flags&flagEndHeaders != 0:
		f.extend(length, kind == frameHeaders && flags&flagPadded != 0, id)
	case mine:
		in.block = id
	}
	f.passed(0)
}

// extend puts the field into the last frame of a new request's headers; or, where padding ends it or it is as large as may
// be, into another frame behind it. Another frame behind headers that are too large would cost the client its 431.
func (f *frames) extend(length int, padded bool, id uint32) {
	in := &f.in
	in.extra, in.last = in.extra[:0], true
	apart := padded || length+len(f.field)+mostField > mostFrame
	if apart {
		in.head[4] &^= flagEndHeaders
		in.extra = appendHead(in.extra, 0, frameContinuation, flagEndHeaders, id)
	}
	in.extra = appendField(in.extra, f.field, id)
	if apart {
		putLength(in.extra, len(in.extra)-frameHead)
	} else {
		putLength(in.head[:], length+len(in.extra))
	}
}

// passed notes that so much of a payload has passed, and puts the field behind it.
func (f *frames) passed(n int) {
	in := &f.in
	in.left -= n
	switch {
	case in.left > 0 || !in.last:
		return
	case n == 0: // there is no payload: the head is still to pass
		in.whole = append(append(in.whole[:0], in.head[:]...), in.extra...)
		in.ready = in.whole
	default:
		in.ready = in.extra
	}
	in.last = false
}
