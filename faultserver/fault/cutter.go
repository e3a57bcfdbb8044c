package fault

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"strconv"
)

// errCut is what a handler gets that writes on after its answer was cut.
var errCut = errors.New("fault: the answer is truncated here")

// maxHeld is how much of a body is held back to learn its length, when the head does not say.
const maxHeld = 64 << 10

// cutter passes a part of an answer on. The head goes out once it is known how much body there is: at once when the
// handler said, else when it returns, flushes or has written more than is held.
type cutter struct {
	http.ResponseWriter
	r     *http.Request
	bytes int64   // how much is sent; -1: by share
	share float64 // of the body

	code  int // 0: not said yet
	sent  bool
	empty bool // the answer has no body that could be cut
	taken bool // the connection was taken over: another fault broke it
	held  []byte
	left  int64 // that may still be sent
}

// Unwrap gives http.ResponseController the way to what cutter does not do itself.
func (c *cutter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutter) WriteHeader(code int) {
	if code < 200 {
		c.ResponseWriter.WriteHeader(code)
		return
	}
	if c.code != 0 {
		return
	}
	c.code = code
	if c.r.Method == http.MethodHead || bodyless(code) {
		c.empty = true
		return
	}
	if length, err := strconv.ParseInt(c.Header().Get("Content-Length"), 10, 64); err == nil && length >= 0 {
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
		return http.NewResponseController(c.ResponseWriter).Flush()
	case len(c.held) > 0:
		return c.stream()
	}
	return nil // nothing to send before the length is known
}

// Hijack notes that there is nothing left to cut.
func (c *cutter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(c.ResponseWriter).Hijack()
	c.taken = err == nil
	return conn, rw, err
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

// promise sends the head of an answer with a body of length bytes. Its Content-Length is more than will come.
func (c *cutter) promise(length int64) {
	declared := max(length, 1)
	if c.bytes >= 0 {
		declared, c.left = max(declared, c.bytes+1), c.bytes
	} else {
		c.left = min(int64(c.share*float64(length)), declared-1)
	}
	c.Header().Set("Content-Length", strconv.FormatInt(declared, 10))
	c.head()
}

// stream sends the head without a length and begins with the body: as many bytes as were asked for, or the share of what
// is held so far. HTTP/1.0 knows no chunks and would take the end of the connection for the end, so it is promised a
// length that will not come.
func (c *cutter) stream() error {
	c.left = c.bytes
	if c.bytes < 0 {
		c.left = int64(c.share * float64(len(c.held)))
	}
	if !c.r.ProtoAtLeast(1, 1) {
		c.Header().Set("Content-Length", strconv.FormatInt(c.left+1, 10))
	}
	c.head()
	if _, err := c.pass(c.held); err != nil {
		return err
	}
	return http.NewResponseController(c.ResponseWriter).Flush()
}

func (c *cutter) head() {
	c.sent = true
	c.ResponseWriter.WriteHeader(c.code)
}

// pass sends as much of p as may be sent, and sees that the last of it goes out: a proxy panics on errCut.
func (c *cutter) pass(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	if err == nil && c.left == 0 {
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		err = errCut
	}
	return n, err
}
