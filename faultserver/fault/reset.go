package fault

import "net/http"

func init() {
	register(Kind{
		Name:    "reset",
		Summary: "resets the connection (RST) once the request was read; on HTTP/2 the stream",
		Example: "{reset: {}}",
		New:     func() Fault { return &Reset{} },
	})
}

// Reset breaks the connection off as a crashed or overloaded server does. It has no settings.
type Reset struct{}

// Inject resets the connection; next is not called.
func (*Reset) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	breakConnection(w)
}
