package fault

import (
	"errors"
	"net"
	"net/http"
	"strconv"
)

// errCut is what a handler gets that writes on after its answer was cut.
var errCut = errors.New("fault: the answer is truncated here")

// maxHeld is how much of a body is held back to learn its length, when the head does not say.
const maxHeld = 64 << 10

// chunks is the declared length of an answer that comes in chunks.
const chunks = -1

// cutter passes a part of an answer on, under a length that it makes up. The head goes out once it is known how much body
// there is: at once when the handler said, else when it returns, flushes or has written more than is held.
type cutter struct {
	wrapped
	r *http.Request

	sized   func(length int64) (declared, sent int64) // for a body of this length
	unsized func(held int64) (declared, sent int64)   // for a longer one, of which so much is held
	heads   bool                                      // an answer to HEAD gets a length as well
	excess  bool                                      // more is sent than declared, which net/http would not do

	conn  net.Conn // once the head was sent by hand
	code  int      // 0: not said yet
	sent  bool     // the head was
	empty bool     // the answer has no body that could be cut
	held  []byte
	left  int64 // that may still be sent
	wrote int64
}

func (c *cutter) WriteHeader(code int) {
	if code < 200 {
		c.ResponseWriter.WriteHeader(code)
		return
	}
	if c.code != 0 {
		return
	}
	c.code = code
	length, err := strconv.ParseInt(c.Header().Get("Content-Length"), 10, 64)
	known := err == nil && length >= 0
	switch {
	case bodyless(code) || c.r.Method == http.MethodHead && !(c.heads && known):
		c.empty = true
	case known:
		c.promise(length)
	}
}

// Write sends what may be sent and fails as soon as that is used up: the handler need not go on.
func (c *cutter) Write(p []byte) (int, error) {
	if c.code == 0 {
		c.WriteHeader(http.StatusOK)
	}
	if c.empty {
		return len(p), nil
	}
	if !c.sent {
		c.held = append(c.held, p...)
		if len(c.held) > maxHeld {
			return len(p), c.stream()
		}
		return len(p), nil
	}
	return c.pass(p)
}

// FlushError sends an answer of unknown length in chunks from here on. It never aborts by itself: a proxy may flush from
// another goroutine.
func (c *cutter) FlushError() error {
	switch {
	case c.sent:
		return c.flush()
	case len(c.held) > 0:
		return c.stream()
	}
	return nil // nothing to send before the length is known
}

func (c *cutter) flush() error {
	if c.conn != nil {
		return nil
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

// end sends what is held when the handler returned.
func (c *cutter) end() {
	if c.code == 0 && !c.taken {
		c.WriteHeader(http.StatusOK)
	}
	if !c.sent && !c.empty && !c.taken {
		c.promise(int64(len(c.held)))
		_, _ = c.pass(c.held)
	}
}

// finish breaks the answer off behind what was sent. One without a body is not sent: it would be in order.
func (c *cutter) finish() {
	c.end()
	switch {
	case c.taken:
	case c.empty:
		drain(c.r)
		hangUp(c.ResponseWriter)
	default:
		_ = c.flush()
		abort()
	}
}

// close closes the connection, if it was taken over for this answer.
func (c *cutter) close() {
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// promise sends the head of an answer with a body of length bytes.
func (c *cutter) promise(length int64) {
	var declared int64
	declared, c.left = c.sized(length)
	c.head(declared)
}

// stream sends the head without having seen the end of the body, and begins with the body. HTTP/1.0 knows no chunks and
// would take the end of the connection for the end, so it is promised a length that will not come.
func (c *cutter) stream() error {
	var declared int64
	declared, c.left = c.unsized(int64(len(c.held)))
	if declared == chunks && !c.r.ProtoAtLeast(1, 1) {
		declared = c.left + 1
	}
	c.head(declared)
	if _, err := c.pass(c.held); err != nil {
		return err
	}
	return c.flush()
}

func (c *cutter) head(declared int64) {
	c.sent = true
	if declared != chunks {
		c.Header().Set("Content-Length", strconv.FormatInt(declared, 10))
	}
	switch {
	case !c.excess || c.r.Method == http.MethodHead:
		c.ResponseWriter.WriteHeader(c.code)
	case c.r.ProtoMajor >= 2: // which sends names in lower case, and looks for this one in upper case only
		c.Header()["content-length"] = c.Header()["Content-Length"]
		c.Header().Del("Content-Length")
		c.ResponseWriter.WriteHeader(c.code)
		_ = c.flush()
	default:
		c.conn = byHand(c.ResponseWriter, c.r, c.code)
		_, _ = c.conn.Write(head(c.code, c.Header()))
	}
}

// pass sends as much of p as may be sent, and sees that the last of it goes out: a proxy panics on errCut.
func (c *cutter) pass(p []byte) (n int, err error) {
	part := p[:min(int64(len(p)), c.left)]
	if c.conn != nil {
		n, err = c.conn.Write(part)
	} else {
		n, err = c.ResponseWriter.Write(part)
	}
	c.left, c.wrote = c.left-int64(n), c.wrote+int64(n)
	if err == nil && c.left == 0 {
		_ = c.flush()
		err = errCut
	}
	return n, err
}
