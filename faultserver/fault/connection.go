package fault

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"
)

// OnConnection is a fault that acts on a new connection, before a request was read from it. On one that is kept alive it
// acts on the next request, as Inject says.
type OnConnection interface {
	Fault
	// Meet takes conn, which its caller closes. It calls acts once, when it begins to act, and returns when ctx ends. It
	// reports whether the client went away by itself.
	Meet(ctx context.Context, conn net.Conn, acts func()) (left bool)
}

// Lasting is a fault that stays with a connection over many requests.
type Lasting interface {
	Fault
	Hold(conn net.Conn) Held
}

// Held is a lasting fault on its connection. Its methods are safe for concurrent use.
type Held interface {
	Select(w http.ResponseWriter, r *http.Request) Fault // what happens to the next request, nil for nothing
	Idle()                                               // all requests so far were answered
	Drop()                                               // the plan is another one now; nothing more is to happen
}

// Wired gives the connection that an exchange came over to a fault that breaks it, nil if it is not known. The server's
// response writer implements it: on HTTP/2 there is no other way to what carries the streams.
type Wired interface{ Wire() net.Conn }

// unheard is how much a connection that nobody listens to may take in: less than systems hold back by themselves, so that
// nobody can tell, and enough to read of the end behind a request.
const unheard = 64 << 10

// ignore holds a connection without a word until the client leaves or ctx ends; it reports whether the client left. Beyond
// 64 KiB nothing is read, and uploads stall.
func ignore(ctx context.Context, conn net.Conn) (left bool) {
	defer interrupt(ctx, conn)()
	if _, err := io.CopyN(io.Discard, conn, unheard); err == nil {
		<-ctx.Done()
	}
	return ctx.Err() == nil
}

// interrupt makes reads from conn fail when ctx ends.
func interrupt(ctx context.Context, conn net.Conn) (stop func() bool) {
	return context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Unix(1, 0)) })
}

// sever resets a connection (RST), under TLS too.
func sever(conn net.Conn) {
	under := underTLS(conn)
	if c, ok := under.(interface{ SetLinger(seconds int) error }); ok {
		_ = c.SetLinger(0)
	}
	_ = under.Close() // of the TLS connection, Close would say goodbye first
}

// severWire resets the connection that an exchange came over, with everything else that goes on over it.
func severWire(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		over(w)
		sever(conn)
		return
	}
	over(w)
	if c, ok := find[Wired](w); ok && c.Wire() != nil {
		sever(c.Wire())
	}
	abort()
}

// finish sends the end of the stream (FIN), and leaves reading open.
func finish(conn net.Conn) {
	for _, c := range []net.Conn{conn, underTLS(conn)} {
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}
}

// answer lets the rest of the way answer.
type answer struct{}

func (answer) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) { next.ServeHTTP(w, r) }

// severance resets the connection once the request was read.
type severance struct{}

func (severance) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	severWire(w)
}
