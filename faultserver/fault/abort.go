package fault

import (
	"context"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/retrygate/retrygate/faultserver/clock"
)

// drain reads the rest of the request. A server fails after it took a request, not while it comes in; and a connection
// that is closed over unread bytes is reset by the kernel, whatever the fault meant to do.
func drain(r *http.Request) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

// now is the time by the exchange's clock.
func now(ctx context.Context) time.Time { return clock.From(ctx).Now() }

// wait sleeps for d, never less, and reports false when the context ended first.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := clock.From(ctx).NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// abort ends the exchange without the rest of the answer: net/http closes an HTTP/1 connection without last chunk and
// resets an HTTP/2 stream. It does not return.
func abort() { panic(http.ErrAbortHandler) }

// takeOver gives the exchange's connection away from net/http. Where there is none to give, on HTTP/2, it aborts.
func takeOver(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		abort()
	}
	return conn
}

// Ending is told that the exchange ends before its connection is closed: what the client does next it does after that. The
// server's response writer implements it.
type Ending interface{ Over() }

// lastOf is takeOver for a fault that closes the connection next.
func lastOf(w http.ResponseWriter) net.Conn {
	conn := takeOver(w)
	over(w)
	return conn
}

func over(w http.ResponseWriter) {
	if e, ok := find[Ending](w); ok {
		e.Over()
	}
}

// hangUp closes the connection in good order (FIN): the client reads the end of the stream. Under TLS there is no
// close_notify before it, as from a process that dies: the client can tell that something is missing.
func hangUp(w http.ResponseWriter) { _ = underTLS(lastOf(w)).Close() }

// lingering is how long a connection with unread bytes is read on before it is closed; net/http does the same.
const lingering = 500 * time.Millisecond

// turnAway is hangUp in the middle of a request. To close over bytes that nobody read would be a reset, so what the client
// goes on to send is dropped for a while.
func turnAway(w http.ResponseWriter) {
	conn := underTLS(lastOf(w))
	finish(conn)
	_ = conn.SetDeadline(time.Now().Add(lingering))
	go func() {
		_, _ = io.Copy(io.Discard, conn)
		_ = conn.Close()
	}()
}

// breakConnection resets the connection (RST): the client reads "connection reset by peer".
func breakConnection(w http.ResponseWriter) { sever(lastOf(w)) }

// underTLS is the connection that carries conn's bytes: linger is a setting of TCP, which TLS hides.
func underTLS(conn net.Conn) net.Conn {
	for {
		outer, ok := conn.(interface{ NetConn() net.Conn })
		if !ok {
			return conn
		}
		conn = outer.NetConn()
	}
}
