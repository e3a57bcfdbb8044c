package fault

import (
	"context"
	"net"
	"net/http"
)

func init() {
	register(Kind{
		Name:    "silent",
		Summary: "takes each new connection and never says a word, until the client leaves or the server closes; on one that is kept alive, the next request meets it",
		Example: "{silent: {}}",
		New:     func() Fault { return &Silent{} },
		Role:    Final,
	})
}

// Silent accepts connections as a server does whose process is stuck: the system takes them in, nobody serves them. Uploads
// stall after some 64 KiB and what the system holds back.
type Silent struct{}

// Early reports that no body is read.
func (*Silent) Early() bool { return true }

// Meet lets the connection wait.
func (*Silent) Meet(ctx context.Context, conn net.Conn, acts func()) (left bool) {
	acts()
	return ignore(ctx, conn)
}

// Inject lets a connection wait that was kept alive, on HTTP/2 the stream; next is not called.
func (*Silent) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		<-r.Context().Done()
		abort()
	}
	if ignore(r.Context(), conn) {
		scribe(w).Left()
	}
	_ = conn.Close()
}
