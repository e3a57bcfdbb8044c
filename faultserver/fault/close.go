package fault

import "net/http"

func init() {
	register(Kind{
		Name:    "close",
		Summary: "closes the connection in good order (FIN) without an answer, once the request was read, or a part of it; on HTTP/2 it resets the stream",
		Example: "{close: {after: 1024}}",
		New:     func() Fault { return &Close{} },
	})
}

// Close hangs up as a server does that shuts down, or whose idle timeout meets the request.
type Close struct {
	After Extent `yaml:"after" doc:"how much of the request is read before: body (default), half, head, or a number of bytes"`
}

// Early reports whether a part of the body stays unread.
func (f *Close) Early() bool { return f.After.early() }

// Last says that nothing behind acts.
func (*Close) Last() {}

// Inject closes the connection; next is not called.
func (f *Close) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	f.After.read(r)
	if f.After.early() {
		turnAway(w)
		return
	}
	hangUp(w)
}
