package fault

import (
	"net/http"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "wrong-encoding",
		Summary: "says in Content-Encoding that the answer's body is compressed, and sends it plain",
		Example: "{wrong-encoding: {says: gzip}}",
		New:     func() Fault { return &WrongEncoding{Says: "gzip"} },
		Role:    Shaping,
	})
}

// WrongEncoding lets next answer and labels the body as what it is not. The backend is not told what the client accepts, so
// that the body is plain; one that is compressed all the same gets its first byte garbled.
type WrongEncoding struct {
	Says string `yaml:"says" doc:"gzip (default), deflate, br, zstd or compress"`
}

// codings are the content codings that clients know.
var codings = []string{"gzip", "deflate", "br", "zstd", "compress"}

// Inject labels what next writes.
func (f *WrongEncoding) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	says := f.Says
	if says == "" {
		says = codings[0]
	}
	r = r.Clone(r.Context())
	r.Header.Del("Accept-Encoding")
	labelled := &labelling{wrapped: wrapped{ResponseWriter: w}, says: says}
	next.ServeHTTP(labelled, r)
	if !labelled.done && !labelled.taken {
		labelled.WriteHeader(http.StatusOK)
	}
}

// Validate wants a coding that clients know: an unknown one they may pass through.
func (f *WrongEncoding) Validate(n strict.Node) {
	for _, known := range codings {
		if f.Says == known {
			return
		}
	}
	n.At("says").Fail("unknown content coding %q%s", f.Says, registry.Suggest(f.Says, codings))
}

// labelling sets the header when the head goes out.
type labelling struct {
	wrapped
	says   string
	done   bool
	garble bool // the next byte
}

func (l *labelling) WriteHeader(code int) {
	if code >= 200 && !l.done {
		l.done = true
		if l.Header().Get("Content-Encoding") == "" {
			l.Header().Set("Content-Encoding", l.says)
		} else {
			l.garble = true
		}
	}
	l.ResponseWriter.WriteHeader(code)
}

func (l *labelling) Write(p []byte) (int, error) {
	if !l.done {
		l.WriteHeader(http.StatusOK)
	}
	if l.garble && len(p) > 0 {
		l.garble = false
		p = append([]byte{^p[0]}, p[1:]...)
	}
	return l.ResponseWriter.Write(p)
}

func (l *labelling) FlushError() error {
	if !l.done {
		l.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(l.ResponseWriter).Flush()
}
