package faultserver

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"

	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// ServeHTTP takes one request through the server; doc.go explains the steps. It may be mounted in any http.Server; on the
// listeners of Listen and Serve it also knows connections and clients.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.busy.Add(1)
	defer s.leave()
	c, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok { // someone else's server: this one's end must end the request all the same
		c = foreign(r)
		ctx, cancel := context.WithCancel(clock.With(r.Context(), s.journal.Clock()))
		defer cancel()
		defer context.AfterFunc(s.base, cancel)()
		r = r.WithContext(ctx)
	}
	var f *frames
	if c.wire != nil {
		f = c.wire.serve()
	}
	if r.TLS == nil {
		r.TLS = c.state
	}
	x := s.arrive(w, r, c, f) // 1
	defer x.end()             // 5
	if x.turnedAway() {
		x.yield()
	} else {
		x.program.decide(x, r) // 2
	}
	if x.takeBody(r) { // 3
		x.act(r) // 4
	}
	x.ended = true
}

// recorders saves the larger part of what an exchange that is answered at once costs the memory.
var recorders = sync.Pool{New: func() any { return new(recorder) }}

// leave tells Close when the last exchange has ended.
func (s *Server) leave() {
	if s.busy.Add(-1) == 0 && s.base.Err() != nil {
		select {
		case s.idle <- struct{}{}:
		default:
		}
	}
}

// arrive journals the request.
func (s *Server) arrive(w http.ResponseWriter, r *http.Request, c *connection, f *frames) *recorder {
	x := recorders.Get().(*recorder)
	x.server, x.w, x.request, x.declared, x.listener = s, w, r, -1, c.client
	x.line = c
	x.found(f, r)
	a := journal.Arrival{
		Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Conn: c.id, Proto: r.Proto, Closing: r.Close, TLS: r.TLS != nil,
	}
	a.Client, a.Auth = s.client(r, c, identify(&a, r.Header))
	if s.callHeader != "" && a.CallBy != CallHeader {
		if id := first(r.Header, s.callHeader); id != "" {
			a.Call, a.CallBy = bounded(id), s.callHeader
		}
	}
	if s.calibrate {
		a.Marks = s.marks(r.Header)
	}
	x.client, x.call = a.Client, a.Call
	s.run.RLock()
	x.program = s.program.Load()
	if x.program.connects || c.holds.Load() { // also what an earlier plan has left
		x.met = c.first(x.program)
	}
	if x.turn = x.program.ordered; x.turn {
		x.program.turn.Lock()
	}
	x.entry = s.journal.Arrive(a)
	s.run.RUnlock()
	return x
}

// act lets the chosen fault do its work, or the backend.
func (x *recorder) act(r *http.Request) {
	if x.rule == nil {
		if x.server.upstream != nil {
			x.watch(r.Context())
		}
		x.ServeHTTP(x, r)
		return
	}
	x.rule.fired.Add(1)
	x.entry.Acted(x.rule.name, x.fault.Name())
	f := x.fault.Fault()
	if s, ok := f.(*fault.Status); !ok || s.Early() {
		x.watch(r.Context())
	}
	f.Inject(x, r, x)
}

// end closes the entry, whatever happened. It is deferred: the panic of a handler comes by here.
func (x *recorder) end() {
	reason := recover()
	if x.unhook != nil {
		x.unhook()
	}
	gone := x.request.Context().Err() != nil
	if gone {
		x.left() // the hook may not have run yet
	}
	abort := reason == http.ErrAbortHandler
	switch {
	case x.ended:
		abort = x.finish(gone)
	case reason != nil && !abort:
		abort = x.fail(reason)
	}
	if abort || !x.ended && reason == nil { // aborted, or runtime.Goexit
		x.breakOff()
	}
	if x.upload != nil {
		x.upload.end()
	}
	if x.rule == nil && x.delivered(gone) {
		x.program.callEnded(x)
	}
	if x.hungUp && x.ended && !abort && !x.hijacked {
		x.entry.Over()
		x.line.wire.ask(x.entry)
	} else {
		x.entry.Close()
	}
	if abort {
		panic(http.ErrAbortHandler)
	}
	if x.ended && x.unhook == nil && x.upload == nil { // else someone may still hold it
		*x = recorder{}
		recorders.Put(x)
	}
}

// finish checks what a handler left behind that came to its end. It reports true when net/http must not complete the
// answer.
func (x *recorder) finish(gone bool) (abort bool) {
	switch {
	case x.hijacked:
		return false
	case x.status == 0 && gone:
		return true // net/http would send a 200 that nobody meant
	case x.status == 0:
		x.answers(http.StatusOK)
	}
	if gone && x.server.base.Err() != nil {
		x.cut() // Close took the connection away
	}
	if x.declared > x.written && x.request.Method != http.MethodHead && bodyAllowed(x.status) {
		x.cut() // net/http closes the connection on an answer that is too short
	}
	return false
}

func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

// fail makes a 500 of a fault or backend that panicked. It reports true when it is too late for that.
func (x *recorder) fail(reason any) (abort bool) {
	x.server.errorLog.Printf("faultserver: panic while serving %s %s: %v\n%s",
		x.request.Method, x.request.URL.EscapedPath(), reason, debug.Stack())
	if x.committed || x.hijacked {
		return true
	}
	clear(x.Header())
	x.status = 0
	http.Error(x, fmt.Sprintf("retrygate: a panic while serving this request: %v", reason), http.StatusInternalServerError)
	return false
}

// breakOff journals that the answer was broken off. What was written before goes out, so that the journal and the wire
// tell the same story.
func (x *recorder) breakOff() {
	x.cut()
	if x.status != 0 && !x.hijacked && !x.flushed {
		x.Flush()
	}
}

// delivered reports whether a whole answer was given to a client that was there to take it.
func (x *recorder) delivered(gone bool) bool {
	return x.status != 0 && !x.cutOff && (!gone || x.handed.Load())
}
