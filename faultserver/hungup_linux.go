package faultserver

import (
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// peer is the other end of a connection, for one goroutine at a time. It is kept with the connection, as it is looked at for each
// answer.
type peer struct {
	raw   syscall.RawConn // nil: nothing can be known
	asked []unix.PollFd
	wait  time.Duration
	poll  func(fd uintptr)
}

func peerOf(conn net.Conn) *peer {
	p := &peer{asked: make([]unix.PollFd, 1)}
	if of, ok := conn.(syscall.Conn); ok {
		p.raw, _ = of.SyscallConn()
	}
	p.poll = func(fd uintptr) {
		p.asked[0].Fd = int32(fd)
		for end := time.Now().Add(p.wait); ; {
			if _, err := unix.Poll(p.asked, int(max(0, time.Until(end)).Milliseconds())); err != unix.EINTR {
				return
			}
		}
	}
	return p
}

// is reports whether any of some events, of poll(2), is so of the connection, or is so soon. A connection that was closed here
// tells nothing.
func (p *peer) is(events int16, wait time.Duration) bool {
	if p.raw == nil {
		return false
	}
	p.asked[0], p.wait = unix.PollFd{Events: events}, wait
	return p.raw.Control(p.poll) == nil && p.asked[0].Revents&events != 0
}

// hungUp reports whether the other end sends no more: it closed the connection, or its half of it.
func (p *peer) hungUp() bool { return p.is(unix.POLLRDHUP, 0) }

// missing reports whether there is nobody at the other end: what was sent there was refused, at once or within wait.
func (p *peer) missing(wait time.Duration) bool { return p.is(unix.POLLERR|unix.POLLHUP, wait) }
