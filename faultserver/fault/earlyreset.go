package fault

import (
	"context"
	"net"
	"net/http"
)

func init() {
	register(Kind{
		Name:    "early-reset",
		Summary: "resets each new connection (RST) at the first bytes of its request; on one that is kept alive, the next request meets it",
		Example: "{early-reset: {}}",
		New:     func() Fault { return &EarlyReset{} },
		Role:    Final,
	})
}

// EarlyReset takes connections and resets them once the client begins to speak, before the request is read; with TLS, that
// is in the middle of the handshake. Connections over which nothing comes are no attempts; it leaves them alone.
type EarlyReset struct{}

// Early reports that no body is read.
func (*EarlyReset) Early() bool { return true }

// Meet waits for the first byte.
func (*EarlyReset) Meet(ctx context.Context, conn net.Conn, acts func()) (left bool) {
	defer interrupt(ctx, conn)()
	if n, _ := conn.Read(make([]byte, 1)); n == 0 {
		return true
	}
	acts()
	sever(conn)
	return false
}

// Inject resets a connection that was kept alive; next is not called.
func (*EarlyReset) Inject(w http.ResponseWriter, _ *http.Request, _ http.Handler) { severWire(w) }
