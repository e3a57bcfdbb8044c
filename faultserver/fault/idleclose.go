package fault

import (
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "idle-close",
		Summary: "answers, and closes the connection in good order (FIN) once it was idle for a while; a request that crosses it is lost",
		Example: "{idle-close: {after: 2s}}",
		New:     func() Fault { return &IdleClose{After: 5 * time.Second} },
		Role:    Final,
	})
}

// IdleClose closes connections that are kept alive as servers and load balancers do. A client that sends at that moment
// loses the race: its request is read, never answered, and journalled as cut.
type IdleClose struct {
	After time.Duration `yaml:"after" doc:"how long a connection may be idle; default 5s"`
}

// Hold watches over a connection.
func (f *IdleClose) Hold(conn net.Conn) Held { return &idling{after: f.After, conn: conn} }

// Inject closes the connection of any request; next is not called. A server asks Hold instead.
func (f *IdleClose) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	(&Close{}).Inject(w, r, next)
}

// Validate wants some time.
func (f *IdleClose) Validate(n strict.Node) { strict.Above(n, "after", f.After, 0) }

type idling struct {
	after time.Duration
	conn  net.Conn

	mu      sync.Mutex
	clock   clock.Clock // of the latest request
	timer   *time.Timer // runs while the connection is idle
	turn    int         // counts the requests, so that a timer that was too late to stop can be told
	closing bool
}

func (h *idling) Select(_ http.ResponseWriter, r *http.Request) Fault {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock = clock.From(r.Context())
	h.stop()
	if h.closing {
		return &Close{}
	}
	return answer{}
}

func (h *idling) stop() {
	h.turn++
	if h.timer != nil {
		h.timer.Stop()
		h.timer = nil
	}
}

func (h *idling) Drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop()
}

func (h *idling) Idle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.timer == nil && !h.closing {
		turn := h.turn
		h.timer = h.clock.AfterFunc(h.after, func() { h.close(turn) })
	}
}

// close ends the connection, unless a request came before the timer could say so. What crosses is read for a while.
func (h *idling) close(turn int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.turn != turn {
		return
	}
	h.closing = true
	finish(h.conn)
	time.AfterFunc(lingering, func() { _ = h.conn.Close() })
}
