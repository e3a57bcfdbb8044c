package fault

import (
	"bytes"
	"cmp"
	"net/http"
	"strconv"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "oversize",
		Summary: "answers with a body that is far larger than anyone expects, with its length declared or in chunks",
		Example: "{oversize: {bytes: 1000000, chunked: true}}",
		New:     func() Fault { return &Oversize{} },
		Role:    Final,
	})
}

// Oversize streams a body of any size from a small buffer. It takes a client that bounds what it reads to end it sooner.
type Oversize struct {
	Code    int   `yaml:"code" doc:"200 to 599; default 200"`
	Bytes   int64 `yaml:"bytes" doc:"how many; default 16 MiB"`
	Chunked bool  `yaml:"chunked" doc:"whether it comes in chunks, without a length that tells before"`
}

// filler is what bodies are made of.
var filler = bytes.Repeat([]byte("x"), 32<<10)

// Inject answers; next is not called.
func (f *Oversize) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	left := f.Bytes
	if left <= 0 {
		left = 16 << 20
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if !f.Chunked {
		w.Header().Set("Content-Length", strconv.FormatInt(left, 10))
	}
	w.WriteHeader(cmp.Or(f.Code, http.StatusOK))
	if r.Method == http.MethodHead {
		return
	}
	for left > 0 {
		n, err := w.Write(filler[:min(left, int64(len(filler)))])
		if err != nil {
			abort() // the client has seen enough
		}
		left -= int64(n)
	}
}

// Validate wants a status and a body that there can be.
func (f *Oversize) Validate(n strict.Node) {
	if _, ok := n.Field("code"); ok {
		strict.Between(n, "code", f.Code, minStatus, maxStatus)
	}
	if _, ok := n.Field("bytes"); ok {
		strict.AtLeast(n, "bytes", f.Bytes, 1)
	}
}
