package faultserver

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// peer is the other end of a connection, for one goroutine at a time. It is kept with the connection, as it is looked at for each
// answer.
type peer struct {
	raw   syscall.RawConn // nil: nothing can be known
	asked []unix.PollFd
	poll  func(fd uintptr)
}

func peerOf(conn net.Conn) *peer {
	p := &peer{asked: make([]unix.PollFd, 1)}
	if of, ok := conn.(syscall.Conn); ok {
		p.raw, _ = of.SyscallConn()
	}
	p.poll = func(fd uintptr) {
		p.asked[0].Fd = int32(fd)
		if _, err := unix.Poll(p.asked, 0); err != nil {
			p.asked[0].Revents = 0
		}
	}
	return p
}

// is reports whether any of some events, of poll(2), is so of the connection. One that was closed here tells nothing.
func (p *peer) is(events int16) bool {
	if p.raw == nil {
		return false
	}
	p.asked[0] = unix.PollFd{Events: events}
	return p.raw.Control(p.poll) == nil && p.asked[0].Revents&events != 0
}

// hungUp reports whether the other end sends no more: it closed the connection, or its half of it.
func (p *peer) hungUp() bool { return p.is(unix.POLLRDHUP) }

// missing reports whether there is nobody at the other end: what was sent there was refused.
func (p *peer) missing() bool { return p.is(unix.POLLERR | unix.POLLHUP) }
