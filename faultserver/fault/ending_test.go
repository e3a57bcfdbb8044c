package fault_test

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// handed is an exchange whose connection may be taken over; it notes what becomes of it.
type handed struct {
	http.ResponseWriter
	noted []string
}

func (h *handed) Over() { h.noted = append(h.noted, "over") }

func (h *handed) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	ours, theirs := net.Pipe()
	_ = theirs.Close()
	return &closing{ours, h}, nil, nil
}

// closing is a connection that tells when it is closed first.
type closing struct {
	net.Conn
	of *handed
}

func (c *closing) note() {
	if !slices.Contains(c.of.noted, "closed") {
		c.of.noted = append(c.of.noted, "closed")
	}
}

func (c *closing) Close() error      { c.note(); return c.Conn.Close() }
func (c *closing) CloseWrite() error { c.note(); return nil }

// A client may be back before the server gets any further than closing its connection, so the exchange is over before that.
func TestExchangesEndBeforeTheirConnections(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"reset": &fault.Reset{}, "close": &fault.Close{}, "refused": &fault.Refused{}, "early-reset": &fault.EarlyReset{}, "handshake": &fault.Handshake{},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &handed{ResponseWriter: httptest.NewRecorder()}
				f.Inject(h, httptest.NewRequest("GET", "/", nil), nil)
				if want := []string{"over", "closed"}; !slices.Equal(h.noted, want) {
					t.Errorf("noted %q, want %q", h.noted, want)
				}
			})
		})
	}
}
