package memnet

import (
	"bytes"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// window is how many bytes may wait to be read, about what Linux starts a loopback connection with.
const window = 128 << 10

// stream is one direction of a connection.
type stream struct {
	mu     sync.Mutex
	change sync.Cond // anything below changed

	buffer  bytes.Buffer
	writing bool // a writer waits for room; others wait for it, so that their bytes do not mix

	readerGone bool  // the reading end was closed
	writerGone error // the writing end was closed; what further writes return
	wasReset   bool

	readBy, writeBy deadline
}

func newStream() *stream {
	s := &stream{}
	s.change.L = &s.mu
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readerGone:
			return 0, net.ErrClosed
		case s.readBy.passed:
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case s.buffer.Len() > 0:
			s.change.Broadcast()
			return s.buffer.Read(p)
		case s.wasReset:
			return 0, os.NewSyscallError("read", syscall.ECONNRESET)
		case s.writerGone != nil:
			return 0, io.EOF
		}
		s.change.Wait()
	}
}

func (s *stream) write(p []byte) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.writing {
		s.change.Wait()
	}
	s.writing = true
	defer func() {
		s.writing = false
		s.change.Broadcast()
	}()
	for {
		switch room := window - s.buffer.Len(); {
		case s.writerGone != nil:
			return n, s.writerGone
		case s.writeBy.passed:
			return n, os.ErrDeadlineExceeded
		case s.wasReset:
			return n, os.NewSyscallError("write", syscall.ECONNRESET)
		case s.readerGone:
			return n, os.NewSyscallError("write", syscall.EPIPE)
		case len(p) == n:
			return n, nil
		case room > 0:
			part := p[n:min(len(p), n+room)]
			s.buffer.Write(part)
			n += len(part)
			s.change.Broadcast()
			continue
		}
		s.change.Wait()
	}
}

// stopReading closes the reading end and returns how many bytes nobody will read.
func (s *stream) stopReading() (unread int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readerGone {
		return 0, net.ErrClosed
	}
	s.readerGone = true
	s.readBy.stop()
	unread = s.buffer.Len()
	s.buffer.Reset()
	s.change.Broadcast()
	return unread, nil
}

// stopWriting closes the writing end; further writes return why.
func (s *stream) stopWriting(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writerGone = why
	s.writeBy.stop()
	s.change.Broadcast()
}

func (s *stream) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wasReset = true
	s.change.Broadcast()
}

// deadline is when an operation fails. The stream's lock guards it.
type deadline struct {
	timer  *time.Timer
	passed bool
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

// setDeadline sets d, one of the stream's deadlines.
func (s *stream) setDeadline(d *deadline, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.stop()
	wait := time.Until(t)
	d.passed = !t.IsZero() && wait <= 0
	if !t.IsZero() && !d.passed {
		var timer *time.Timer
		timer = time.AfterFunc(wait, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if d.timer == timer { // else it was replaced just as it fired
				d.passed = true
				s.change.Broadcast()
			}
		})
		d.timer = timer
	}
	s.change.Broadcast()
	return nil
}
