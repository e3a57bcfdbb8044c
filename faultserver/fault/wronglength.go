package fault

import (
	"math"
	"net/http"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "wrong-length",
		Summary: "sends the whole body under a Content-Length that is too long, or too short; on HTTP/1 it then closes the connection",
		Example: "{wrong-length: {by: 5}}",
		New:     func() Fault { return &WrongLength{By: 1} },
		Role:    ByHand,
	})
}

// WrongLength lets next answer and declares another length than its body has. A client waits for bytes that do not come, or
// finds bytes behind the end. An answer without a body (204, 304) never comes; one to HEAD has the wrong length too.
type WrongLength struct {
	By int `yaml:"by" doc:"how many bytes too long, or too short if negative; default 1"`
}

// endless is declared too long for a body whose length is not known when the head has to go out.
const endless = 1 << 40

// Inject declares a wrong length for what next writes.
func (f *WrongLength) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	by := int64(f.By)
	if by == 0 {
		by = 1
	}
	c := &cutter{wrapped: wrapped{ResponseWriter: w}, r: r, heads: true, excess: by < 0 || r.ProtoMajor >= 2}
	c.sized = func(length int64) (declared, sent int64) { return max(0, length+by), math.MaxInt64 }
	c.unsized = func(held int64) (declared, sent int64) {
		if by > 0 {
			return endless, math.MaxInt64
		}
		return c.sized(held)
	}
	defer c.close() // whatever happens
	next.ServeHTTP(c, r)
	c.end()
	if c.sent && by < 0 && c.wrote == 0 && r.Method != http.MethodHead { // nothing exceeds the length of an empty body
		_, _ = c.pass(filler[:-by])
	}
	if c.conn != nil || c.sent && r.ProtoMajor >= 2 {
		scribe(w).Cut() // all was sent, in order
		return
	}
	c.finish()
}

// Validate wants a difference.
func (f *WrongLength) Validate(n strict.Node) {
	if f.By == 0 {
		n.At("by").Fail("by is 0, so the length would be right; want how much too long it is, or a negative number for too short")
	}
	strict.Between(n, "by", f.By, -len(filler), math.MaxInt32)
}
