package faultserver_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// late is a listener that takes connections when it is told to, as on a machine that is busy with other things.
type late struct {
	net.Listener
	now chan struct{}
}

func (l late) Accept() (net.Conn, error) {
	<-l.now
	return l.Listener.Accept()
}

// A client that gave up before the server came to read its request got no answer, whatever the server then sent. One that only
// said that it sends no more, and waits, got it.
func TestAnswersThatNobodyTakes(t *testing.T) {
	for name, c := range map[string]struct {
		head  string
		leave func(*net.TCPConn) error
		want  string
	}{
		"left":             {"", (*net.TCPConn).Close, "0 gone"},
		"left with a word": {"Connection: close\r\n", (*net.TCPConn).Close, "0 gone"},
		"reset":            {"", func(c *net.TCPConn) error { _ = c.SetLinger(0); return c.Close() }, "0 gone"},
		"half closed":      {"", (*net.TCPConn).CloseWrite, "404 after 7 s"},
		"waits":            {"", func(*net.TCPConn) error { return nil }, "404 after 7 s"},
		"closes":           {"Connection: close\r\n", func(*net.TCPConn) error { return nil }, "404 after 7 s"},
		"half and close":   {"Connection: close\r\n", (*net.TCPConn).CloseWrite, "404 after 7 s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := faultserver.New(faultserver.WithErrorLog(nil))
			defer s.Close()
			rule := faultserver.Rule{Name: "r", Fault: fault.Of("status", &fault.Status{Code: 404, RetryAfter: fault.Seconds(7 * time.Second)})}
			if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{rule}}); err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			now := make(chan struct{})
			go func() { _ = s.Serve(late{l, now}, "app") }()
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET /a HTTP/1.1\r\nHost: x\r\n"+c.head+"\r\n"); err != nil {
				t.Fatal(err)
			}
			if err := c.leave(conn.(*net.TCPConn)); err != nil {
				t.Fatal(err)
			}
			close(now)
			if strings.HasPrefix(c.want, "404") {
				answer := make([]byte, 12)
				if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 404" {
					t.Errorf("%q, %v", answer, err)
				}
			}
			e := (&socket{server: s}).entries(t, 1)[0]
			got := fmt.Sprint(e.Status)
			if e.RetryAfter != "" {
				got += " after " + e.RetryAfter + " s"
			}
			if e.Gone > 0 {
				got += " gone"
			}
			if got != c.want || e.Cut || e.Fault != "status" || e.Took > e.Gone && e.Gone > 0 {
				t.Errorf("got %s, want %s: %+v", got, c.want, e)
			}
		})
	}
}
