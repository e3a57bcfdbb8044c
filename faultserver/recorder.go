package faultserver

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/gorilla/mux"

	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// recorder follows one exchange from arrival to end. It is the http.ResponseWriter that faults and backends write to, so
// that the journal knows what went out, and the http.Handler that faults call next.
type recorder struct {
	server  *Server
	program *program
	w       http.ResponseWriter
	request *http.Request
	entry   *journal.Exchange

	listener     string // client that the listener belongs to, "" if it takes anybody's
	client, call string
	callKey      uint64  // 0: not computed yet
	bodySum      uint64  // of what was read before the rule was chosen
	upload       *upload // the part of the body that was not
	read         bool    // readBody has been here
	refused      bool    // and found the body too large
	broken       bool    // the body ended before its end

	frames   *frames // of the connection; nil: not HTTP/2, or not known
	streamID uint32  // on it

	line *connection // that it came over
	met  bool        // the connection was a hit of those rules before

	turn    bool // it holds the program's
	match   mux.RouteMatch
	decided bool  // by a rule that acts, or that lets it pass
	rule    *rule // nil: none acts
	fault   fault.Spec
	luck    luck // of the rule's hit
	random  *rand.Rand

	status    int   // 0: no final status yet
	committed bool  // w has the status
	declared  int64 // bytes that the answer promised, -1: not said
	written   int64
	flushed   bool
	hijacked  bool
	upgraded  bool // hijacked to carry another protocol
	byHand    bool // hijacked by a fault that sends a whole answer
	cutOff    bool
	asked     bool // the upstream was
	relaying  bool // its answer is being passed on

	handed atomic.Bool // all declared bytes are on their way: who leaves now has the answer
	unhook func() bool // stops watching for the client to leave; nil: nobody watches
	hungUp bool        // the client sent no more when the answer began: it may have left before
	ended  bool        // the handler came to its end; false while it panics
}

// Unwrap gives http.ResponseController the way to what recorder does not do itself.
func (x *recorder) Unwrap() http.ResponseWriter { return x.w }

// Header returns the header of the answer.
func (x *recorder) Header() http.Header { return x.w.Header() }

// WriteHeader journals the status before anything of it can reach the client.
func (x *recorder) WriteHeader(status int) {
	final := status >= 200 || status == http.StatusSwitchingProtocols // the others only inform
	if final && x.status == 0 && !x.hijacked {
		if x.upload != nil && !x.asked {
			x.upload.drain() // an answer comes after the request, as from any server that looks at what it gets
		}
		x.answers(status)
	}
	x.w.WriteHeader(status)
	x.committed = x.committed || final
}

// answers journals the final status.
func (x *recorder) answers(status int) {
	header := x.w.Header()
	x.status, x.declared = status, -1
	if length := first(header, "Content-Length"); length != "" {
		if n, err := strconv.ParseInt(length, 10, 64); err == nil {
			x.declared = n
		}
	}
	if t := told(status, header); t != (journal.Told{}) {
		x.entry.Told(t)
	}
	if by := x.server.journal.Clock(); by.Speed() > 1 && header["Date"] == nil {
		header.Set("Date", by.Now().UTC().Format(http.TimeFormat)) // net/http would tell the machine's time
	}
	x.hungUp = x.line.wire != nil && x.request.ProtoMajor == 1 && x.line.hungUp()
	x.entry.Answered(status, first(header, "Retry-After"))
}

// Write hands bytes of the body over.
func (x *recorder) Write(p []byte) (int, error) {
	x.begin()
	if x.declared >= 0 && x.written+int64(len(p)) >= x.declared {
		x.handed.Store(true)
	}
	n, err := x.w.Write(p)
	x.wrote(int64(n), err)
	return n, err
}

// ReadFrom lets the connection copy by itself where it can.
func (x *recorder) ReadFrom(from io.Reader) (int64, error) {
	x.begin()
	n, err := io.Copy(x.w, from)
	x.wrote(n, err)
	return n, err
}

// begin sends 200 where the handler did not say otherwise, as net/http would.
func (x *recorder) begin() {
	if x.status == 0 && !x.hijacked {
		x.WriteHeader(http.StatusOK)
	}
}

func (x *recorder) wrote(n int64, err error) {
	x.written += n
	if err != nil && x.request.Context().Err() != nil { // the connection broke, and not only this write
		x.handed.Store(false)
		x.left()
	}
}

// Flush sends what was written so far.
func (x *recorder) Flush() { _ = x.FlushError() }

// FlushError is Flush for http.ResponseController.
func (x *recorder) FlushError() error {
	x.begin()
	if x.relaying && x.handed.Load() {
		return nil // net/http sends the end by itself, when the entry is closed
	}
	x.flushed = true
	return http.NewResponseController(x.w).Flush()
}

// Hijack gives the connection away. What goes over it is no answer any more, unless the protocol was switched or the fault
// said that it is.
func (x *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(x.w).Hijack()
	if err == nil {
		if watched, ok := conn.(*wire); ok {
			conn = watched.Conn // faults may look for what only a TCP connection can
		}
		x.hijacked = true
		if !x.upgraded && !x.byHand {
			x.cut()
		}
	}
	return conn, rw, err
}

// Over closes the entry's time. It implements fault.Ending.
func (x *recorder) Over() { x.entry.Over() }

// Draw gives the exchange's random numbers. It implements fault.Draws.
func (x *recorder) Draw() *rand.Rand {
	if x.random == nil {
		if x.luck == (luck{}) {
			x.luck = luck{x.server.seed, x.entry.Seq()} // no rule was asked
		}
		x.random = draws(x.luck.seed, x.luck.number)
	}
	return x.random
}

// Client tells who sent the request. With Payload, it implements fault.Origin.
func (x *recorder) Client() string { return x.client }

// Payload gives the body's hash, if the body is not too large to be read now.
func (x *recorder) Payload() (sum uint64, ok bool) {
	x.readBody(x.request)
	return x.bodySum, x.bodySum != 0 && x.upload == nil && !x.broken
}

// Sends notes that a fault sends an answer by itself. With Cut and Left, it implements fault.Scribe.
func (x *recorder) Sends(status int) {
	x.answers(status)
	x.byHand = true
}

// Cut notes that the answer is garbled.
func (x *recorder) Cut() { x.cut() }

// Wire gives the connection that the request came over to a fault that breaks it. It implements fault.Wired.
func (x *recorder) Wire() net.Conn {
	x.line.broken.Store(true)
	return x.line.conn
}

// Left notes that the client went away.
func (x *recorder) Left() { x.left() }

// ServeHTTP lets the backend answer. It is what faults call next.
func (x *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x.server.backend.answer(x, w, r)
}

func (x *recorder) cut() {
	x.cutOff = true
	if x.request.ProtoMajor == 1 {
		x.line.rude.Store(true)
	}
	x.entry.Cut()
}

// watch has the journal told when the client leaves. An exchange that is answered at once does without: should the client
// leave meanwhile, a failed read or write tells, or the context at the end.
func (x *recorder) watch(ctx context.Context) { x.unhook = context.AfterFunc(ctx, x.left) }

// left tells the journal that the client went away, unless it has its answer or it was the server, or a fault, that ended
// things.
func (x *recorder) left() {
	if !x.handed.Load() && x.server.base.Err() == nil && !x.line.broken.Load() {
		x.entry.Left()
	}
}
