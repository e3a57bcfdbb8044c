package fault

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"

	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name: "handshake",
		Summary: "breaks the TLS handshake of each new connection off behind the client's hello, by a close (FIN) or a fatal alert; " +
			"refused, early-reset and silent do the other things that can go wrong there",
		Example: "{handshake: {by: alert}}",
		New:     func() Fault { return &Handshake{By: HandshakeClose} },
		Role:    Final,
	})
}

// Handshake ends connections as servers and load balancers do that are shutting down, have lost their keys, or share no
// protocol version or cipher with the client.
type Handshake struct {
	By HandshakeEnd `yaml:"by" doc:"close (default), or alert: handshake_failure"`
}

// HandshakeEnd is how a handshake ends.
type HandshakeEnd string

// The ends.
const (
	HandshakeClose HandshakeEnd = "close"
	HandshakeAlert HandshakeEnd = "alert"
)

// Early reports that no body is read.
func (*Handshake) Early() bool { return true }

// Shows names no problem: it does not come to a certificate.
func (*Handshake) Shows() devca.Problem { return devca.None }

// Meet reads the hello and ends the connection.
func (f *Handshake) Meet(ctx context.Context, conn net.Conn, acts func()) (left bool) {
	defer interrupt(ctx, conn)()
	if !readRecord(conn) {
		return true
	}
	acts()
	if f.By == HandshakeAlert {
		_, _ = conn.Write(handshakeFailure)
	}
	return false // the caller closes it
}

// handshakeFailure is a TLS record with a fatal alert (RFC 8446 6: handshake_failure is 40).
var handshakeFailure = []byte{21, 3, 3, 0, 2, 2, 40}

// readRecord reads a TLS record (RFC 8446 5.1): to close a connection over unread bytes would be a reset.
func readRecord(conn net.Conn) bool {
	var head [5]byte // type, version, length
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return false
	}
	_, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint16(head[3:])))
	return err == nil
}

// Inject closes the connection: for a request, it is too late for a handshake.
func (*Handshake) Inject(w http.ResponseWriter, _ *http.Request, _ http.Handler) { hangUp(w) }

// Validate is for faults that were made in Go.
func (f *Handshake) Validate(n strict.Node) {
	if err := new(HandshakeEnd).UnmarshalText([]byte(f.By)); err != nil {
		n.At("by").Fail("by: %v", err)
	}
}

var handshakeEnds = []HandshakeEnd{HandshakeClose, HandshakeAlert}

// UnmarshalText reads the word that plans use.
func (e *HandshakeEnd) UnmarshalText(text []byte) error {
	return readWord(e, text, "a handshake does not end by", handshakeEnds)
}

// JSONSchema lists the words that plans use.
func (HandshakeEnd) JSONSchema() map[string]any { return wordSchema(handshakeEnds) }
