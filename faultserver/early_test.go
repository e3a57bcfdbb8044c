package faultserver_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// uploading is a client that declares 1,000 bytes, sends some of them, and then listens.
type uploading struct {
	conn net.Conn
	read *bufio.Reader
}

func (u uploading) send(t *testing.T, n int) {
	t.Helper()
	if n == 0 {
		return // also to write nothing tells that the connection was reset
	}
	if _, err := io.WriteString(u.conn, strings.Repeat("x", n)); err != nil {
		t.Error(err)
	}
}

// listening starts a server on a real socket with one fault, and an upload to it.
func listening(t *testing.T, f fault.Fault, headers string) (*faultserver.Server, uploading) {
	t.Helper()
	s := faultserver.New(faultserver.WithErrorLog(nil))
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Fault: fault.Of("it", f)}}}); err != nil {
		t.Fatal(err)
	}
	at, err := s.Listen("127.0.0.1:0", "app")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(at, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: t\r\n"+headers+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return s, uploading{conn, bufio.NewReader(conn)}
}

// closed waits for the exchange to end and returns its entry.
func closed(s *faultserver.Server) journal.Entry {
	for {
		changed := s.Journal().Changed()
		if s.Journal().Len() == 1 && s.Journal().Pending() == 0 {
			return s.Journal().Entries()[0]
		}
		<-changed
	}
}

// A fault that acts in the middle of a request acts there: the client has sent no more than what is to be read, and waits.
func TestFaultsInTheMiddleOfARequest(t *testing.T) {
	const sized, chunked = "Content-Length: 1000", "Transfer-Encoding: chunked"
	for name, c := range map[string]struct {
		fault   fault.Fault
		headers string
		sent    int
		want    error // how the connection ends
		read    int64
	}{
		"reset after the head":        {&fault.Reset{After: fault.Head}, sized, 0, syscall.ECONNRESET, 0},
		"reset after half":            {&fault.Reset{After: fault.Half}, sized, 500, syscall.ECONNRESET, 500},
		"reset after some":            {&fault.Reset{After: 7}, sized, 7, syscall.ECONNRESET, 7},
		"close after the head":        {&fault.Close{After: fault.Head}, sized, 0, nil, 0},
		"close after half":            {&fault.Close{After: fault.Half}, sized, 500, nil, 500},
		"close over unread bytes":     {&fault.Close{After: 7}, sized, 900, nil, 7},
		"reset of one who asks first": {&fault.Reset{After: fault.Head}, sized + "\r\nExpect: 100-continue", 0, syscall.ECONNRESET, 0},
		"length not declared":         {&fault.Reset{After: fault.Head}, chunked, 0, syscall.ECONNRESET, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := listening(t, c.fault, c.headers)
			client.send(t, c.sent)
			if answer, err := io.ReadAll(client.read); len(answer) > 0 || !errors.Is(err, c.want) {
				t.Errorf("read %q and then %v; want nothing and then %v", answer, err, c.want)
			}
			if e := closed(s); e.BodyLen != c.read || e.BodyWhole || !e.Early || e.Status != 0 || !e.Cut || e.Gone != 0 {
				t.Errorf("%+v", e)
			}
		})
	}
}

// What a fault does to a large request is the same each time: 64 kB were read, so the client has sent them all and then sees
// the end, never an error of its own sending (square/okhttp #4792; wiremock #970 saw neither FIN nor RST).
func TestFaultsBehindTheBodyComeBehindIt(t *testing.T) {
	for name, c := range map[string]struct {
		fault fault.Fault
		want  string
	}{"close": {&fault.Close{}, "EOF"}, "reset": {&fault.Reset{}, "read: connection reset by peer"}} {
		t.Run(name, func(t *testing.T) {
			s := faultserver.New(faultserver.WithErrorLog(nil))
			defer s.Close()
			if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Fault: fault.Of(name, c.fault)}}}); err != nil {
				t.Fatal(err)
			}
			at, err := s.Listen("127.0.0.1:0", "app")
			if err != nil {
				t.Fatal(err)
			}
			const runs = 200
			for range runs {
				_, err := http.Post(at, "", strings.NewReader(strings.Repeat("x", 64<<10)))
				if err == nil || !strings.HasSuffix(err.Error(), c.want) {
					t.Fatalf("the client sees %v, want %s", err, c.want)
				}
			}
			for _, e := range s.Journal().Entries() {
				if !e.BodyWhole || e.BodyLen != 64<<10 || e.Early {
					t.Fatalf("%+v", e)
				}
			}
			if n := s.Journal().Len(); n != runs {
				t.Errorf("%d exchanges for %d calls", n, runs)
			}
		})
	}
}

// An early answer is whole before the body has come. Then the connection is kept, or closed where the answer says so.
func TestEarlyAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		after fault.Extent
		sent  int
	}{"head": {fault.Head, 0}, "half": {fault.Half, 500}, "some": {7, 7}} {
		t.Run(name+", kept", func(t *testing.T) {
			s, client := listening(t, &fault.Status{Code: 413, After: c.after}, "Content-Length: 1000")
			client.send(t, c.sent)
			answer, err := http.ReadResponse(client.read, nil)
			if err != nil || answer.StatusCode != 413 {
				t.Fatal(answer, err)
			}
			if body, err := io.ReadAll(answer.Body); !strings.Contains(string(body), "Too Large") || err != nil {
				t.Fatalf("%q, %v", body, err)
			}
			client.send(t, 1000-c.sent)
			if e := closed(s); e.BodyLen != 1000 || !e.BodyWhole || !e.Delivered() {
				t.Errorf("%+v", e)
			}
			_, _ = io.WriteString(client.conn, "GET / HTTP/1.1\r\nHost: t\r\n\r\n")
			if answer, err := http.ReadResponse(client.read, nil); err != nil || answer.StatusCode != 413 {
				t.Errorf("on the kept connection: %v, %v", answer, err)
			}
		})
		t.Run(name+", closed", func(t *testing.T) {
			s, client := listening(t, &fault.Status{Code: 413, After: c.after, Headers: map[string]string{"Connection": "close"}}, "Content-Length: 1000")
			client.send(t, c.sent+300) // bytes that nobody reads must not cost the client its answer
			answer, err := http.ReadResponse(client.read, nil)
			if err != nil || answer.StatusCode != 413 || !answer.Close {
				t.Fatal(answer, err)
			}
			if body, err := io.ReadAll(answer.Body); !strings.Contains(string(body), "Too Large") || err != nil {
				t.Errorf("%q, %v", body, err)
			}
			if e := closed(s); e.BodyLen != int64(c.sent) || e.BodyWhole || !e.Delivered() {
				t.Errorf("%+v", e)
			}
		})
	}
}
