package memnet

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"time"
)

// Conn is one end of a connection. It implements net.Conn and, like a TCP connection, CloseWrite and SetLinger.
type Conn struct {
	local, remote Addr
	in, out       *stream
	abort         atomic.Bool // Close resets
}

// pair makes the two ends of a connection.
func pair(client, server Addr) (*Conn, *Conn) {
	up, down := newStream(), newStream()
	return &Conn{local: client, remote: server, in: down, out: up}, &Conn{local: server, remote: client, in: up, out: down}
}

// Read waits for bytes. It returns io.EOF after the other end has closed, and "connection reset by peer" after the other
// end has reset the connection, each once the bytes that came before have been read.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.wrap("read", err)
}

// Write waits for room in the other end's buffer.
func (c *Conn) Write(p []byte) (int, error) {
	n, err := c.out.write(p)
	return n, c.wrap("write", err)
}

// Close ends both directions. As in TCP, the other end still gets what was written; but after SetLinger(0), or with
// received bytes left unread, the connection is reset.
func (c *Conn) Close() error {
	unread, err := c.in.stopReading()
	if err != nil {
		return c.wrap("close", err)
	}
	if c.abort.Load() || unread > 0 {
		c.in.reset()
		c.out.reset()
	}
	c.out.stopWriting(net.ErrClosed)
	return nil
}

// CloseWrite ends the outgoing direction: the other end reads io.EOF and may go on writing.
func (c *Conn) CloseWrite() error {
	c.out.stopWriting(syscall.EPIPE)
	return nil
}

// SetLinger with 0 makes Close reset the connection. Other values mean the usual Close, which never blocks here.
func (c *Conn) SetLinger(seconds int) error {
	c.abort.Store(seconds == 0)
	return nil
}

// LocalAddr returns this end's address.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the other end's address.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines; the zero time takes them away.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline makes reads fail from t on, waiting ones too.
func (c *Conn) SetReadDeadline(t time.Time) error {
	return c.wrap("set", c.in.setDeadline(&c.in.readBy, t))
}

// SetWriteDeadline makes writes fail from t on, waiting ones too.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	return c.wrap("set", c.out.setDeadline(&c.out.writeBy, t))
}

// wrap gives errors the shape that package net gives them, so that clients classify them as they would real ones.
func (c *Conn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	return &net.OpError{Op: op, Net: "mem", Source: c.local, Addr: c.remote, Err: err}
}
