package fault

import "net/http"

func init() {
	register(Kind{
		Name:    "stream-reset",
		Summary: "resets the HTTP/2 stream (RST_STREAM) with any error code once the request was read, or a part of it; leaves HTTP/1.1 alone",
		Example: "{stream-reset: {code: enhance-your-calm}}",
		New:     func() Fault { return &StreamReset{Code: InternalError} },
		Role:    Final,
	})
}

// StreamReset breaks one exchange off and leaves the others on its connection alone. What was done with the request, the
// client cannot know, unless the code is refused-stream.
type StreamReset struct {
	Code  Code   `yaml:"code" doc:"an error code of HTTP/2, such as cancel or enhance-your-calm, or its number; default internal-error"`
	After Extent `yaml:"after" doc:"how much of the request is read before: body (default), half, head, or a number of bytes"`
}

// Streamed says that the fault exists on HTTP/2 only.
func (*StreamReset) Streamed() {}

// Early reports whether a part of the body stays unread.
func (f *StreamReset) Early() bool { return f.After.early() }

// Inject resets the stream; next is called only where there is none.
func (f *StreamReset) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	s, ok := stream(w)
	if !ok {
		next.ServeHTTP(w, r)
		return
	}
	f.After.read(r)
	s.Code(uint32(f.Code))
	abort()
}
