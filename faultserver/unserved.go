package faultserver

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// headKept is how many bytes of each request's head are kept until a handler sees the request: enough for most request
// lines.
const headKept = 512

// http2Preface is how connections begin that speak HTTP/2 (RFC 9113, 3.4).
const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// wire is a connection that is watched for what no handler sees: requests that net/http refuses by itself (431, 400, 417,
// 505 and others), heads that never end, and connections over which no request comes.
type wire struct {
	net.Conn
	over *acceptor
	here *connection

	preface int     // bytes of the connection's preface that have come, -1: it has none. Whoever reads has it
	frames  *frames // set once all of it came: the connection speaks HTTP/2

	shaking sync.Once
	shaken  error // why the TLS handshake failed

	mu      sync.Mutex // net/http reads ahead while a handler runs
	served  bool       // the request that came last has reached ServeHTTP
	used    bool       // one request has, or was refused
	refused bool       // the request that came last was answered by net/http
	ended   bool       // nothing more comes
	broken  bool       // and it was this side that closed
	ahead   bool       // one byte of the next request was read while this one was served: it is in next
	next    byte
	head    [headKept]byte
	n       int // bytes in head

	doubted *journal.Exchange // its client sent no more when the answer began, and may not be there to take it
}

// ask leaves the end of an exchange to the answer's way: where nobody takes it, the client had left. A machine that is late reads
// requests of clients that have long given up, as if they were there.
func (c *wire) ask(x *journal.Exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doubted = x
}

// sent ends an exchange that was left to the answer's way, when all of the answer is on it. On loopback it has been refused by then,
// if it is. It is not waited for: who closed only its half may be reading on until this side closes too.
func (c *wire) sent() {
	c.mu.Lock()
	x := c.doubted
	c.doubted = nil
	c.mu.Unlock()
	if x == nil {
		return
	}
	if peerOf(c.here.conn).missing() {
		x.Missed()
	}
	x.Close()
}

// CloseWrite lets net/http end an answer before it closes the connection, so that clients can read it.
func (c *wire) CloseWrite() error {
	c.sent()
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close ends the connection. Where an answer was cut there is no goodbye: that is how it is with servers that break.
func (c *wire) Close() error {
	c.sent()
	if c.here.rude.Load() {
		return c.here.conn.Close()
	}
	return c.Conn.Close()
}

// Read keeps the beginning of a request's head. Before the first one comes the TLS handshake.
func (c *wire) Read(p []byte) (int, error) {
	if c.here.tls != nil {
		if c.shaking.Do(func() { c.shaken = c.shake() }); c.shaken != nil {
			return 0, c.shaken
		}
	}
	if c.preface == len(http2Preface) {
		return c.frames.read(p)
	}
	if c.preface >= 0 {
		p = p[:min(len(p), len(http2Preface)-c.preface)]
	}
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recognise(p[:n])
	c.ended, c.broken = err != nil, errors.Is(err, net.ErrClosed)
	switch {
	case err != nil && !c.used && c.n == 0 && alerted(err): // some clients look at the certificate once the handshake is over
		c.used = true
		c.failed(err)
	case n == 0:
	case !c.served:
		came := p[:n]
		if c.n == 0 {
			came = bytes.TrimLeft(came, "\r\n") // some clients end a request's body with a line that nobody counts
		}
		c.n += copy(c.head[c.n:], came)
	case len(p) == 1: // so net/http waits for the client to leave
		c.ahead, c.next = true, p[0]
	}
	return n, err
}

// recognise looks for the preface of HTTP/2.
func (c *wire) recognise(came []byte) {
	switch {
	case c.preface < 0 || len(came) == 0:
	case !strings.HasPrefix(http2Preface[c.preface:], string(came)):
		c.preface = -1
	default:
		if c.preface += len(came); c.preface == len(http2Preface) {
			c.frames = newFrames(c)
		}
	}
}

// Write journals an answer that no handler gives, before the client can have it.
func (c *wire) Write(p []byte) (int, error) {
	c.mu.Lock()
	if f := c.frames; f != nil {
		c.mu.Unlock()
		return f.write(p)
	}
	if !c.served && !c.refused && c.n > 0 && !c.ended {
		if status := statusOf(p); status >= 200 {
			c.refused, c.used = true, true
			c.tell(func(x *journal.Exchange) { x.Answered(status, "") })
		}
	}
	c.mu.Unlock()
	return c.Conn.Write(p)
}

// serve notes that a request has reached its handler. It returns the frames of its connection, nil on HTTP/1.
func (c *wire) serve() *frames {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.served, c.used, c.ahead = true, true, false
	return c.frames
}

// follow is told what becomes of the connection.
func (c *wire) follow(state http.ConnState) {
	if state == http.StateIdle {
		c.sent()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case state == http.StateIdle && c.frames == nil:
		c.served, c.refused, c.n = false, false, 0
		if c.ahead {
			c.head[0], c.n, c.ahead = c.next, 1, false
		}
	case state == http.StateClosed:
		if c.frames != nil {
			c.frames.release()
		}
		if c.over.open.Err() == nil {
			c.close()
		}
	}
}

// close journals what a connection leaves behind that nobody answered.
func (c *wire) close() {
	switch {
	case c.served || c.refused:
	case c.n > 0 && c.frames == nil:
		c.tell(func(x *journal.Exchange) {
			x.Cut()
			if !c.broken { // by a fault
				x.Left()
			}
		})
	case !c.used:
		c.n = 0
		c.tell(func(x *journal.Exchange) {
			if c.here.blame(c.over.server, x) {
				x.Cut()
				x.Left()
			}
		})
	}
}

// tell journals the request that came last, as far as it can be read.
func (c *wire) tell(what func(x *journal.Exchange)) {
	a := c.here.arrival()
	a.Method, a.Path, a.Query = requestLine(c.head[:c.n])
	x := c.over.server.journal.Arrive(a)
	x.Body(0, 0, a.Method == http.MethodGet || a.Method == http.MethodHead) // of others, no body was read
	what(x)
	x.Close()
}

// refuse journals a request that net/http refused on HTTP/2: by a status, or, if that is 0, by breaking it off. What it
// asked for is not known.
func (c *wire) refuse(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = true
	x := c.over.server.journal.Arrive(c.here.arrival())
	if status != 0 {
		x.Answered(status, "")
	} else {
		x.Cut()
	}
	x.Close()
}

// requestLine reads what a head asks for; nothing if it does not begin like a request.
func requestLine(head []byte) (method, path, query string) {
	line, _, whole := strings.Cut(string(head), "\n")
	method, rest, ok := strings.Cut(line, " ")
	if !ok || method == "" || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return "", "", ""
	}
	target, _, ended := strings.Cut(rest, " ")
	if !ended && !whole && len(head) < headKept {
		return "", "", "" // who knows what would have followed
	}
	path, query, _ = strings.Cut(strings.TrimSuffix(target, "\r"), "?")
	return method, path, query
}

// statusOf reads the status of an answer; 0 if it does not begin like one.
func statusOf(answer []byte) int {
	if len(answer) < len("HTTP/1.1 400") || !bytes.HasPrefix(answer, []byte("HTTP/1.")) {
		return 0
	}
	status, _ := strconv.Atoi(string(answer[len("HTTP/1.1 "):len("HTTP/1.1 400")]))
	return status
}
