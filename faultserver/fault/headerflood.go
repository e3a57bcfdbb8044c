package fault

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "header-flood",
		Summary: "adds many or large headers to the answer, more than a client may be willing to read",
		Example: "{header-flood: {headers: 100, bytes: 8192}}",
		New:     func() Fault { return &HeaderFlood{} },
	})
}

// HeaderFlood adds headers X-Flood-1, X-Flood-2 ... to what next answers.
type HeaderFlood struct {
	Headers int `yaml:"headers" doc:"how many; default 1000"`
	Bytes   int `yaml:"bytes" doc:"length of the value of each; default 1024"`
}

// maxFlood bounds a head, which is held in memory.
const maxFlood = 32 << 20

// Inject adds the headers.
func (f *HeaderFlood) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	headers, bytes := f.size()
	value := []string{strings.Repeat("x", bytes)} // one for all
	for i := range headers {
		w.Header()[fmt.Sprintf("X-Flood-%d", i+1)] = value
	}
	next.ServeHTTP(w, r)
}

func (f *HeaderFlood) size() (headers, bytes int) {
	headers, bytes = f.Headers, f.Bytes
	if headers <= 0 {
		headers = 1000
	}
	if bytes <= 0 {
		bytes = 1024
	}
	return headers, bytes
}

// Validate bounds the size.
func (f *HeaderFlood) Validate(n strict.Node) {
	for field, value := range map[string]int{"headers": f.Headers, "bytes": f.Bytes} {
		if _, ok := n.Field(field); ok {
			strict.Between(n, field, value, 1, maxFlood)
		}
	}
	const line = len("X-Flood-1234567: \r\n")
	if headers, bytes := f.size(); headers > maxFlood/(bytes+line) {
		n.Fail("%d headers of %d bytes make a head of more than %d MiB, which is all that the server holds", headers, bytes, maxFlood>>20)
	}
}
