package fault

import "net/http"

func init() {
	register(Kind{
		Name:    "reset",
		Summary: "resets the connection (RST) once the request was read, or a part of it; on HTTP/2 the stream",
		Example: "{reset: {after: half}}",
		New:     func() Fault { return &Reset{} },
	})
}

// Reset breaks the connection off as a crashed or overloaded server does.
type Reset struct {
	After Extent `yaml:"after" doc:"how much of the request is read before: body (default), half, head, or a number of bytes"`
}

// Early reports whether a part of the body stays unread.
func (f *Reset) Early() bool { return f.After.early() }

// Last says that nothing behind acts.
func (*Reset) Last() {}

// Inject resets the connection; next is not called.
func (f *Reset) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	f.After.read(r)
	breakConnection(w)
}
