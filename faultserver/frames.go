package faultserver

import (
	"encoding/binary"
	"strconv"
	"sync"
	"time"
)

// What the layer knows of HTTP/2 (RFC 9113, 4.1 and 6). Everything else passes as it came.
const (
	frameHead = 9 // bytes before each frame's payload: length (3), type, flags, stream (4)

	frameData         = 0x0
	frameHeaders      = 0x1
	frameReset        = 0x3
	frameGoAway       = 0x7
	frameContinuation = 0x9

	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8

	mostFrame = 1 << 20 // the largest payload that net/http takes

	refusedStream = 0x7 // the error code that says: nothing was done
)

// mostStreams is how many streams of a connection are followed at once. net/http refuses more than some hundreds by itself;
// what lies beyond passes, and no fault of HTTP/2 meets it.
const mostStreams = 1 << 14

// frames follows a connection that speaks HTTP/2, in both directions, frame by frame: net/http has no way to say which
// stream a request came on, to choose the code of a reset, or to send GOAWAY with a stream below the last. Each new
// request gets a header field with its stream, under a name that nobody can guess; what goes out is changed where a fault
// said so. What it does not understand passes unchanged, so that it is net/http that refuses it.
type frames struct {
	wire  *wire
	field string // names the header field
	in    inflow
	out   outflow

	mu     sync.Mutex
	open   map[uint32]stream // that did not end yet, in either direction
	newest uint32            // the highest that the client opened
	begun  uint32            // the highest whose request is acted on
	away   *parting          // nil: no GOAWAY was sent by a fault
}

// stream is what is known of one that is open.
type stream struct {
	served bool   // its request has come to a handler
	marked bool   // a fault chose the code of its reset
	code   uint32 // that it chose
}

// parting is a GOAWAY that a fault sent.
type parting struct {
	last  uint32 // streams above it are not processed
	rule  *rule
	fault string
	limit *time.Timer // ends the connection should its streams not end
	shut  bool        // nothing more goes out
}

func newFrames(w *wire) *frames {
	f := &frames{wire: w, field: w.over.server.streamField.sent, open: map[uint32]stream{}}
	f.in.buffer = make([]byte, 4<<10)
	return f
}

// opens notes a block of headers, and reports whether it begins a new request: else it is trailers, or an error.
func (f *frames) opens(id uint32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id%2 == 0 || id <= f.newest {
		return false
	}
	f.newest = id
	if len(f.open) >= mostStreams {
		return false
	}
	f.open[id] = stream{}
	return true
}

// ends notes that a stream has ended, and reports whether a connection that goes away may have waited for that.
func (f *frames) ends(id uint32) (awaited bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, open := f.open[id]
	delete(f.open, id)
	return open && f.away != nil
}

// serve notes that a stream's request has come to a handler.
func (f *frames) serve(id uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.open[id]; ok {
		s.served = true
		f.open[id] = s
	}
}

// begin notes that a stream's request is acted on from now on, unless the connection is going away and says that it is not:
// then it returns the parting.
func (f *frames) begin(id uint32) *parting {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away != nil && id > f.away.last {
		return f.away
	}
	f.begun = max(f.begun, id)
	return nil
}

// mark chooses the error code of the reset that will end a stream.
func (f *frames) mark(id, code uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.open[id]; ok {
		s.marked, s.code = true, code
		f.open[id] = s
	}
}

// appendField adds a header field, never to be indexed (RFC 7541, 6.2.3): a stream's number.
func appendField(to []byte, name string, id uint32) []byte {
	var digits [10]byte
	value := strconv.AppendUint(digits[:0], uint64(id), 10)
	to = append(to, 0x10, byte(len(name)))
	to = append(to, name...)
	to = append(to, byte(len(value)))
	return append(to, value...)
}

// goAway is a GOAWAY frame.
func goAway(last, code uint32, debug string) []byte {
	b := appendHead(nil, 8+len(debug), frameGoAway, 0, 0)
	b = binary.BigEndian.AppendUint32(b, last)
	b = binary.BigEndian.AppendUint32(b, code)
	return append(b, debug...)
}

// mostField is what the field takes at most besides its name.
const mostField = 3 + len("2147483647")

func putLength(head []byte, length int) {
	head[0], head[1], head[2] = byte(length>>16), byte(length>>8), byte(length)
}

func appendHead(to []byte, length int, kind, flags byte, id uint32) []byte {
	to = append(to, byte(length>>16), byte(length>>8), byte(length), kind, flags)
	return binary.BigEndian.AppendUint32(to, id)
}

// readHead takes a frame's head apart.
func readHead(head []byte) (length int, kind, flags byte, id uint32) {
	length = int(head[0])<<16 | int(head[1])<<8 | int(head[2])
	return length, head[3], head[4], binary.BigEndian.Uint32(head[5:]) &^ (1 << 31)
}
