package fault

import (
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "reset-after",
		Summary: "answers so many requests on each connection, then resets it (RST) at the next, or at once",
		Example: "{reset-after: {requests: 1}}",
		New:     func() Fault { return &ResetAfter{Requests: 1} },
		Role:    Final,
	})
}

// resetDelay lets the last answer reach the client: some systems drop what was not read yet when a reset comes.
const resetDelay = 20 * time.Millisecond

// ResetAfter resets connections that were kept alive, as a proxy does that drops them or a server that was restarted.
type ResetAfter struct {
	Requests int  `yaml:"requests" doc:"how many requests on a connection are answered; default 1"`
	AtOnce   bool `yaml:"at-once" doc:"reset the idle connection 20 ms after the last answer, and not at the next request"`
}

// Hold counts the requests on a connection.
func (f *ResetAfter) Hold(conn net.Conn) Held { return &resetting{fault: f, conn: conn} }

// Inject resets the connection of any request; next is not called. A server asks Hold instead.
func (f *ResetAfter) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	severance{}.Inject(w, r, next)
}

// Validate wants at least one request, since nothing else is kept alive.
func (f *ResetAfter) Validate(n strict.Node) { strict.AtLeast(n, "requests", f.Requests, 1) }

type resetting struct {
	fault *ResetAfter
	conn  net.Conn
	seen  atomic.Int64
	over  atomic.Bool
}

func (h *resetting) Select(http.ResponseWriter, *http.Request) Fault {
	switch seen, most := h.seen.Add(1), int64(h.fault.Requests); {
	case seen > most:
		return severance{}
	case seen == most && h.fault.AtOnce:
		return answer{}
	}
	return nil
}

func (h *resetting) Idle() {
	if h.fault.AtOnce && h.seen.Load() >= int64(h.fault.Requests) {
		time.AfterFunc(resetDelay, func() {
			if !h.over.Load() {
				sever(h.conn)
			}
		})
	}
}

func (h *resetting) Drop() { h.over.Store(true) }
