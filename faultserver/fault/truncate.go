package fault

import (
	"net/http"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "truncate",
		Summary: "breaks the answer off inside its body: the head promises more than comes",
		Example: "{truncate: {bytes: 3, length: 10}}",
		New:     func() Fault { return &Truncate{} },
		Role:    Shaping,
	})
}

// Truncate lets next answer and cuts the body short. At least one promised byte is always missing: where the answer is too
// short for that, its head promises more. A chunked answer ends without its last chunk, unless a length is set. An answer
// without a body (to HEAD, 204, 304) never comes.
type Truncate struct {
	Bytes  *int     `yaml:"bytes" doc:"how much of the body is sent"`
	Share  *float64 `yaml:"share" doc:"or which share of it, 0 to below 1; default 0.5"`
	Length *int     `yaml:"length" doc:"what the head declares, more than bytes; default the body's own length"`
}

// Inject cuts what next writes.
func (t *Truncate) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	c := &cutter{wrapped: wrapped{ResponseWriter: w}, r: r, sized: t.sized, unsized: t.unsized}
	next.ServeHTTP(c, r)
	c.finish()
}

// sized cuts a body of a known length.
func (t *Truncate) sized(length int64) (declared, sent int64) {
	declared = max(length, 1)
	switch {
	case t.Length != nil:
		return int64(*t.Length), int64(*t.Bytes)
	case t.Bytes != nil:
		return max(declared, int64(*t.Bytes)+1), int64(*t.Bytes)
	}
	return declared, min(int64(t.share()*float64(length)), declared-1)
}

// unsized cuts a body that is longer than what is held.
func (t *Truncate) unsized(held int64) (declared, sent int64) {
	switch {
	case t.Length != nil:
		return t.sized(held)
	case t.Bytes != nil:
		return chunks, int64(*t.Bytes)
	}
	return chunks, int64(t.share() * float64(held))
}

func (t *Truncate) share() float64 {
	if t.Share == nil {
		return 0.5
	}
	return *t.Share
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
	switch {
	case t.Length == nil:
	case t.Bytes == nil:
		n.At("length").Fail("length goes with bytes: set how much of it is sent")
	case *t.Length <= *t.Bytes:
		n.At("length").Fail("length %d is not above bytes %d; something must be missing", *t.Length, *t.Bytes)
	}
}
