package fault

import (
	"context"
	"net"
	"net/http"
)

func init() {
	register(Kind{
		Name:    "refused",
		Summary: "resets each new connection (RST) before anything is read from it; on one that is kept alive, the next request meets it",
		Example: "{refused: {}}",
		New:     func() Fault { return &Refused{} },
		Role:    Final,
	})
}

// Refused turns connections away as a server does that is down. The listener stays open, so that every attempt is seen.
type Refused struct{}

// Early reports that no body is read.
func (*Refused) Early() bool { return true }

// Meet resets the connection.
func (*Refused) Meet(_ context.Context, conn net.Conn, acts func()) (left bool) {
	acts()
	sever(conn)
	return false
}

// Inject resets a connection that was kept alive; next is not called.
func (*Refused) Inject(w http.ResponseWriter, _ *http.Request, _ http.Handler) { severWire(w) }
