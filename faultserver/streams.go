package faultserver

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"strconv"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// streamField names the header field by which frames tell a handler the stream of its request. Nobody can guess it.
type streamField struct{ sent, seen string }

func newStreamField() streamField {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	sent := "x-retrygate-stream-" + hex.EncodeToString(b[:])
	return streamField{sent, http.CanonicalHeaderKey(sent)}
}

// take removes the field from a request, and reads the stream; 0: it has none.
func (f *streamField) take(header http.Header) uint32 {
	values := header[f.seen]
	if len(values) == 0 {
		return 0
	}
	delete(header, f.seen)
	id, _ := strconv.ParseUint(values[len(values)-1], 10, 31) // the last is the one that was put in
	return uint32(id)
}

// found looks up the HTTP/2 stream of a request and notes that it has come to a handler.
func (x *recorder) found(f *frames, r *http.Request) {
	if f == nil {
		return
	}
	if x.streamID = x.server.streamField.take(r.Header); x.streamID != 0 {
		x.frames = f
		f.serve(x.streamID)
	}
}

// turnedAway finds requests that come behind a GOAWAY: the fault that sent it acts on them too.
func (x *recorder) turnedAway() bool {
	if x.frames == nil {
		return false
	}
	p := x.frames.begin(x.streamID)
	if p == nil {
		return false
	}
	x.rule, x.fault = p.rule, fault.Of(p.fault, behindGoAway{})
	return true
}

// behindGoAway ends an exchange of which nothing goes out.
type behindGoAway struct{}

func (behindGoAway) Early() bool { return true }

func (behindGoAway) Inject(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
	w.(*recorder).untold()
	panic(http.ErrAbortHandler)
}

// untold notes that the client is told that nothing was done. If it leaves now, that is why.
func (x *recorder) untold() {
	x.handed.Store(true)
	x.entry.Unprocessed()
}

// OnStream reports whether the exchange has an HTTP/2 stream that faults can act on. With Code and GoAway, it implements
// fault.Stream.
func (x *recorder) OnStream() bool { return x.frames != nil }

// Code chooses the error code of the stream's reset, if there will be one.
func (x *recorder) Code(code uint32) {
	if code == refusedStream {
		x.untold()
	}
	x.frames.mark(x.streamID, code)
}

// GoAway sends GOAWAY: the client is to open another connection. processed: this request is still answered; else the
// exchange is to be aborted.
func (x *recorder) GoAway(processed bool, code uint32, debug string) {
	if !processed {
		x.untold()
	}
	if x.frames.goAway(x.streamID, processed, code, debug, x.rule, x.fault.Name()) {
		x.frames.mark(x.streamID, refusedStream)
	}
}
