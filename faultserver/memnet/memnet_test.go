package memnet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/nettest"

	"github.com/retrygate/retrygate/faultserver/memnet"
)

// ends returns the two ends of a new connection.
func ends(t *testing.T) (client, server *memnet.Conn) {
	t.Helper()
	var n memnet.Network
	l, err := n.Listen("")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	c, err := n.DialContext(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return c.(*memnet.Conn), (<-accepted).(*memnet.Conn)
}

// The suite that golang.org/x/net keeps for every net.Conn.
func TestConn(t *testing.T) {
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
		c, s := ends(t)
		return c, s, func() { c.Close(); s.Close() }, nil
	})
}

func TestClose(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(server *memnet.Conn)
		read error // what the client reads after the bytes that were sent
	}{
		{"close", func(s *memnet.Conn) { s.Close() }, io.EOF},
		{"half-close", func(s *memnet.Conn) { _ = s.CloseWrite() }, io.EOF},
		{"reset", func(s *memnet.Conn) { _ = s.SetLinger(0); s.Close() }, syscall.ECONNRESET},
		{"linger for a while", func(s *memnet.Conn) { _ = s.SetLinger(5); s.Close() }, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			client, server := ends(t)
			defer client.Close()
			_, _ = server.Write([]byte("before"))
			c.end(server)
			got, err := readAll(client)
			if got != "before" || !errors.Is(err, c.read) {
				t.Errorf("read %q, then %v; want %q, then %v", got, err, "before", c.read)
			}
		})
	}
}

func readAll(c net.Conn) (string, error) {
	var all []byte
	for {
		p := make([]byte, 4)
		n, err := c.Read(p)
		if all = append(all, p[:n]...); err != nil {
			return string(all), err
		}
	}
}

func TestCloseWithUnreadBytesResets(t *testing.T) {
	client, server := ends(t)
	_, _ = client.Write([]byte("nobody reads this"))
	server.Close()
	if _, err := client.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
	if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a reset", err)
	}
}

func TestHalfCloseLeavesTheOtherDirection(t *testing.T) {
	client, server := ends(t)
	_ = client.CloseWrite()
	if _, err := server.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("got %v, want EOF", err)
	}
	if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want a broken pipe", err)
	}
	_, _ = server.Write([]byte("answer"))
	server.Close()
	if got, err := readAll(client); got != "answer" || err != io.EOF {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWriteToClosed(t *testing.T) {
	client, server := ends(t)
	server.Close()
	if _, err := client.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("got %v, want a broken pipe", err)
	}
	if err := server.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

func TestAddresses(t *testing.T) {
	var n memnet.Network
	l, err := n.Listen("api.test:80")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Listen("api.test:80"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("taken address: %v", err)
	}
	if _, err := n.DialContext(t.Context(), "tcp", "other.test:80"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("nothing listens: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.DialContext(ctx, "tcp", "api.test:80"); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody accepts: %v", err)
	}
	l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed listener: %v", err)
	}
	if l, err = n.Listen("api.test:80"); err != nil {
		t.Errorf("free again: %v", err)
	}
	l.Close()
}

// A real server and a real client, with their own timers, on virtual time.
func TestHTTPInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n memnet.Network
		l, _ := n.Listen("api.test:80")
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(time.Hour):
			case <-r.Context().Done():
			}
		})}
		go server.Serve(l)
		defer server.Close()
		transport := &http.Transport{DialContext: n.DialContext}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport, Timeout: time.Minute}

		began := time.Now()
		_, err := client.Get("http://api.test/")
		if took := time.Since(began); took != time.Minute || err == nil {
			t.Errorf("gave up after %v with %v, want exactly 1m and a timeout", took, err)
		}
		client.Timeout = 0
		began = time.Now()
		answer, err := client.Get("http://api.test/")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if took := time.Since(began); took != time.Hour {
			t.Errorf("answered after %v, want exactly 1h", took)
		}
	})
}
