package fault

import (
	"net/http"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "truncate",
		Summary: "breaks the answer off inside its body: the head promises more than comes",
		Example: "{truncate: {share: 0.5}}",
		New:     func() Fault { return &Truncate{} },
	})
}

// Truncate lets next answer and cuts the body short. At least one promised byte is always missing: where the answer is too
// short for that, its head promises more. A chunked answer ends without its last chunk. An answer without a body (to HEAD,
// 204, 304) never comes.
type Truncate struct {
	Bytes *int     `yaml:"bytes"` // how much of the body is sent
	Share *float64 `yaml:"share"` // or which share of it, 0 to below 1; default 0.5
}

// Inject cuts what next writes.
func (t *Truncate) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	c := &cutter{ResponseWriter: w, r: r, bytes: -1, share: 0.5}
	if t.Bytes != nil {
		c.bytes = int64(*t.Bytes)
	}
	if t.Share != nil {
		c.share = *t.Share
	}
	next.ServeHTTP(c, r)
	c.end()
	switch {
	case c.taken:
	case c.empty:
		drain(r)
		hangUp(w)
	default:
		_ = http.NewResponseController(w).Flush()
		abort()
	}
}

// Validate wants one setting, within its range.
func (t *Truncate) Validate(n strict.Node) {
	if t.Bytes != nil {
		strict.AtLeast(n, "bytes", *t.Bytes, 0)
		if t.Share != nil {
			n.At("share").Fail("bytes and share cannot stand together; keep one")
		}
	}
	if t.Share != nil && !(*t.Share >= 0 && *t.Share < 1) {
		n.At("share").Fail("share: %v is out of range; want 0 to below 1, since something must be missing", *t.Share)
	}
}
