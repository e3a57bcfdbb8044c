package fault

import "net/http"

func init() {
	register(Kind{
		Name:    "refused-stream",
		Summary: "refuses the HTTP/2 stream (REFUSED_STREAM) before the body is read: nothing was done, any request may be sent again; leaves HTTP/1.1 alone",
		Example: "{refused-stream: {}}",
		New:     func() Fault { return &StreamRefused{} },
		Role:    Final,
	})
}

// StreamRefused turns one request away as a server does that has too many (RFC 9113, 8.7).
type StreamRefused struct{}

// Streamed says that the fault exists on HTTP/2 only.
func (*StreamRefused) Streamed() {}

// Early reports that no body is read.
func (*StreamRefused) Early() bool { return true }

// Inject refuses the stream; next is called only where there is none.
func (*StreamRefused) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	s, ok := stream(w)
	if !ok {
		next.ServeHTTP(w, r)
		return
	}
	s.Code(uint32(RefusedStream))
	abort()
}
