package fault

import "net/http"

func init() {
	register(Kind{
		Name:    "close",
		Summary: "closes the connection in good order (FIN) without an answer; on HTTP/2 it resets the stream",
		Example: "{close: {}}",
		New:     func() Fault { return &Close{} },
	})
}

// Close hangs up as a server does that shuts down, or whose idle timeout meets the request. It has no settings.
type Close struct{}

// Inject closes the connection; next is not called.
func (*Close) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	hangUp(w)
}
