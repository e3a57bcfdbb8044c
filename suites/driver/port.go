package driver

import (
	"net"
	"time"
)

// port is a listener that keeps its address when it is closed, until it is released. What a client goes on to send after it
// was stopped waits there, unread: an address that was free again could be that of another client next.
type port struct{ *net.TCPListener }

func newPort() (port, error) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	return port{l}, err
}

// Close ends what waits in Accept, and nothing more.
func (p port) Close() error { return p.SetDeadline(time.Unix(1, 0)) }

func (p port) release() error { return p.TCPListener.Close() }
