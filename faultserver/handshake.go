package faultserver

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// handshakeTimeout is how long a client may take over a TLS handshake, from the moment it connects.
const handshakeTimeout = 10 * time.Second

// heard is a connection that remembers the end of what came over it. TLS hides that.
type heard struct {
	net.Conn
	any bool    // something came
	end [7]byte // the last of it: as much as an alert that is not encrypted
}

// Read remembers what comes.
func (c *heard) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.any = true
		keep := copy(c.end[:], c.end[min(n, len(c.end)):])
		copy(c.end[keep:], p[max(0, n-len(c.end)):n])
	}
	return n, err
}

// alert gives the alert that came last, if it was not encrypted: OpenSSL sends it so when it does not like a certificate, in
// TLS 1.3, where crypto/tls takes it for a broken record.
func (c *heard) alert() (name string, ok bool) {
	const record, fatal = 21, 2 // RFC 8446 5.1 and 6
	e := c.end
	if e[0] != record || e[1] != 3 || e[3] != 0 || e[4] != 2 || e[5] != fatal {
		return "", false
	}
	return tls.AlertError(e[6]).Error(), true
}

// NetConn gives faults the way to the connection beneath.
func (c *heard) NetConn() net.Conn { return c.Conn }

// talk makes the connection that HTTP is spoken over: itself, or TLS over it. The handshake comes when it is read from.
func (s *Server) talk(c *connection) {
	switch {
	case c.talk != nil:
	case s.ca == nil:
		c.talk = c.conn
	default:
		c.tls = tls.Server(&heard{Conn: c.conn}, s.configs[c.problem])
		c.talk = c.tls
	}
}

// shake does the TLS handshake, in the connection's own goroutine. It reports io.EOF where it fails: net/http shall say
// nothing to that.
func (c *wire) shake() error {
	ctx, done := context.WithTimeout(c.over.open, handshakeTimeout)
	defer done()
	err := c.here.tls.HandshakeContext(ctx)
	if err == nil {
		state := c.here.tls.ConnectionState()
		c.here.state, c.here.cert = &state, identity(&state)
		return nil
	}
	if c.over.open.Err() == nil {
		c.mu.Lock()
		c.used = true
		c.mu.Unlock()
		c.failed(err)
	}
	return io.EOF
}

// failed journals a handshake that came to nothing.
func (c *wire) failed(err error) {
	why, left := handshakeFailure(err)
	if raw, ok := c.here.tls.NetConn().(*heard); ok {
		if !raw.any {
			c.tell(func(*journal.Exchange) {}) // a connection over which nothing came
			return
		}
		if alert, ok := raw.alert(); ok {
			why, left = alertName(alert), true
		}
	}
	var plain tls.RecordHeaderError
	if errors.As(err, &plain) && plain.Conn != nil && speaksHTTP(plain.RecordHeader[:]) {
		c.tell(func(x *journal.Exchange) {
			x.Handshake("the client speaks plain HTTP")
			x.Answered(400, "")
		})
		_, _ = io.WriteString(plain.Conn, plainAnswer)
		return
	}
	c.tell(func(x *journal.Exchange) {
		x.Handshake(why)
		c.here.blame(c.over.server, x)
		x.Cut()
		if left {
			x.Left()
		}
	})
}

const plainAnswer = "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n" +
	"retrygate: this address speaks TLS; write https:// in the place of http://\n"

// speaksHTTP reports whether the first bytes of what should be TLS begin a request.
func speaksHTTP(record []byte) bool {
	return strings.Trim(string(record), "ABCDEFGHIJKLMNOPQRSTUVWXYZ /") == ""
}

// handshakeFailure says in a few words why a handshake failed, and whether it was the client who ended it.
func handshakeFailure(err error) (why string, left bool) {
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "the client took too long", false
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the client left", true
	case alerted(err):
		return alertName(err.Error()), true
	}
	return bounded(strings.TrimPrefix(err.Error(), "tls: ")), false
}

// alertName gives what journals say of an alert, from what crypto/tls does.
func alertName(text string) string {
	_, name, _ := strings.Cut(text, "tls: ")
	return journal.Alert + name
}

// alerted reports whether an error is an alert that the client sent.
func alerted(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// shown reports whether a fault has shown, or was to show, the client a certificate with a problem.
func (c *connection) shown() bool { return c.problem != "" }

// blame journals that such a fault kept the client from sending a request, unless the fault belongs to a run before.
func (c *connection) blame(s *Server, x *journal.Exchange) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.shown() || c.rule == nil || c.program != s.program.Load() {
		return false
	}
	c.rule.fired.Add(1)
	x.Acted(c.rule.name, c.name)
	return true
}
