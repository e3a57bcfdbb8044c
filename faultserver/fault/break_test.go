package fault_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

func withConnTrace(ctx context.Context, got func(reused bool)) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) { got(i.Reused) },
	})
}

// TestBreaksOnTheWire looks at what a connection that breaks gives to a client that reads bytes.
func TestBreaksOnTheWire(t *testing.T) {
	const post = "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello"
	for name, c := range map[string]struct {
		fault fault.Fault
		want  error // nil: an orderly end
	}{
		"reset": {&fault.Reset{}, syscall.ECONNRESET},
		"close": {&fault.Close{}, nil},
	} {
		for how, request := range map[string]string{"GET": getText, "POST": post} {
			t.Run(name+" "+how, func(t *testing.T) {
				s, o := plain(t, c.fault, healthy("hi"))
				answer, err := raw(t, s, request)
				if answer != "" || !errors.Is(err, c.want) {
					t.Errorf("read %q and then %v; want nothing and then %v", answer, err, c.want)
				}
				if o.cut.Load() != 1 || o.asked.Load() != 0 {
					t.Errorf("cut %d times, backend asked %d times", o.cut.Load(), o.asked.Load())
				}
			})
		}
		t.Run(name+" over TLS", func(t *testing.T) {
			s, o := server(t, c.fault, healthy("hi"))
			s.StartTLS()
			answer, err := rawTLS(t, s, getText)
			if answer != "" || !errors.Is(err, c.want) || o.cut.Load() != 1 {
				t.Errorf("read %q and then %v; want nothing and then %v", answer, err, c.want)
			}
		})
	}
}

// TestBreaksForGoClients asks with POST, which Go's client does not repeat by itself.
func TestBreaksForGoClients(t *testing.T) {
	for name, c := range map[string]struct {
		fault     fault.Fault
		http1, h2 string // what the error says
	}{
		"reset":   {&fault.Reset{}, "reset by peer", "INTERNAL_ERROR"},
		"close":   {&fault.Close{}, "EOF", "INTERNAL_ERROR"},
		"garbage": {&fault.Garbage{}, "malformed HTTP", "INTERNAL_ERROR"},
	} {
		t.Run(name+" on a fresh connection", func(t *testing.T) {
			s, _ := plain(t, c.fault, healthy("hi"))
			if got := describe(s.Client().Post(s.URL, "", strings.NewReader("x"))); !strings.Contains(got, c.http1) {
				t.Errorf("got %s; want %s", got, c.http1)
			}
		})
		t.Run(name+" on a reused connection", func(t *testing.T) {
			s, o := plain(t, &onSecond{Fault: c.fault}, healthy("hi"))
			if got := describe(s.Client().Get(s.URL)); got != `200 "hi"` {
				t.Fatal(got)
			}
			resp, again, err := reused(t, s.Client(), s.URL)
			if got := describe(resp, err); !again || !strings.Contains(got, c.http1) {
				t.Errorf("got %s (reused: %v); want %s", got, again, c.http1)
			}
			if o.exchanges.Load() != 2 || o.cut.Load() != 1 {
				t.Errorf("%d exchanges, %d cut; want 2 and 1", o.exchanges.Load(), o.cut.Load())
			}
		})
		t.Run(name+" on HTTP/2", func(t *testing.T) {
			s, o := h2(t, c.fault, healthy("hi"))
			if got := describe(s.Client().Post(s.URL, "", strings.NewReader("x"))); !strings.Contains(got, c.h2) || o.cut.Load() != 1 {
				t.Errorf("got %s; want %s", got, c.h2)
			}
		})
	}
}

func TestGarbageIsNoHTTP(t *testing.T) {
	for name, c := range map[string]struct{ bytes, want int }{"default": {0, 64}, "one byte": {1, 1}, "many": {5000, 5000}} {
		t.Run(name, func(t *testing.T) {
			s, _ := plain(t, &fault.Garbage{Bytes: c.bytes}, healthy("hi"))
			answer, err := raw(t, s, getText)
			if len(answer) != c.want || err != nil || strings.Contains(answer, "HTTP") || answer[0] < 0x80 {
				t.Errorf("%d bytes %.20q and then %v; want %d", len(answer), answer, err, c.want)
			}
		})
	}
}

// chunked answers in two flushed pieces, without a length.
func chunked(w http.ResponseWriter, _ *http.Request) {
	for _, piece := range []string{"0123456789", "abcdefghij"} {
		_, _ = io.WriteString(w, piece)
		_ = http.NewResponseController(w).Flush()
	}
}

// sized answers with a length of its own.
func sized(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, body)
	}
}

func TestTruncateOnTheWire(t *testing.T) {
	const whole = "0123456789"
	get10 := "GET / HTTP/1.0\r\nHost: t\r\n\r\n"
	for name, c := range map[string]struct {
		truncate fault.Truncate
		backend  http.HandlerFunc
		request  string
		head     string // is part of the head
		body     string
	}{
		"half":                   {fault.Truncate{}, healthy(whole), getText, "Content-Length: 10", "01234"},
		"half of a sized answer": {fault.Truncate{}, sized(whole), getText, "Content-Length: 10", "01234"},
		"share":                  {fault.Truncate{Share: new(0.9)}, healthy(whole), getText, "Content-Length: 10", "012345678"},
		"share 0":                {fault.Truncate{Share: new(0.0)}, healthy(whole), getText, "Content-Length: 10", ""},
		"share of almost all":    {fault.Truncate{Share: new(0.9999)}, healthy(whole), getText, "Content-Length: 10", "012345678"},
		"bytes":                  {fault.Truncate{Bytes: new(3)}, healthy(whole), getText, "Content-Length: 10", "012"},
		"bytes, too short":       {fault.Truncate{Bytes: new(30)}, sized(whole), getText, "Content-Length: 31", whole},
		"bytes, exact length":    {fault.Truncate{Bytes: new(10)}, healthy(whole), getText, "Content-Length: 11", whole},
		"no bytes":               {fault.Truncate{Bytes: new(0)}, healthy(whole), getText, "Content-Length: 10", ""},
		"empty body":             {fault.Truncate{}, healthy(""), getText, "Content-Length: 1", ""},
		"one byte":               {fault.Truncate{}, healthy("x"), getText, "Content-Length: 1", ""},
		"silent handler":         {fault.Truncate{}, func(http.ResponseWriter, *http.Request) {}, getText, "200 OK", ""},
		"error status": {fault.Truncate{}, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "012345678", http.StatusServiceUnavailable)
		}, getText, "503 ", "01234"},
		"large, unsized":     {fault.Truncate{Bytes: new(4)}, healthy(strings.Repeat("x", 1<<17)), getText, "chunked", "4\r\nxxxx\r\n"},
		"chunked":            {fault.Truncate{}, chunked, getText, "chunked", "5\r\n01234\r\n"},
		"chunked, bytes":     {fault.Truncate{Bytes: new(12)}, chunked, getText, "chunked", "a\r\n0123456789\r\n2\r\nab\r\n"},
		"chunked, all bytes": {fault.Truncate{Bytes: new(20)}, chunked, getText, "chunked", "a\r\n0123456789\r\na\r\nabcdefghij\r\n"},
		"chunked, HTTP/1.0":  {fault.Truncate{}, chunked, get10, "Content-Length: 6", "01234"},
		"sized, HTTP/1.0":    {fault.Truncate{}, healthy(whole), get10, "Content-Length: 10", "01234"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, &c.truncate, c.backend)
			answer, err := raw(t, s, c.request)
			head, body := split(answer)
			if err != nil || !strings.Contains(head, c.head) || body != c.body {
				t.Errorf("got\n%s\n\n%q and then %v; want %s and %q", head, body, err, c.head, c.body)
			}
			if o.cut.Load() != 1 {
				t.Error("the exchange does not count as cut")
			}
		})
	}
}

// TestTruncateWithoutABody breaks the answer off before its head, since the head would be all of it.
func TestTruncateWithoutABody(t *testing.T) {
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for name, c := range map[string]struct {
		backend http.HandlerFunc
		request string
	}{
		"HEAD": {healthy("hi"), strings.Replace(getText, "GET", "HEAD", 1)},
		"204":  {status(204), getText},
		"304":  {status(304), getText},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, &fault.Truncate{}, c.backend)
			if answer, err := raw(t, s, c.request); answer != "" || err != nil || o.cut.Load() != 1 {
				t.Errorf("got %q and then %v", answer, err)
			}
		})
	}
}

func TestTruncateForGoClients(t *testing.T) {
	for name, start := range map[string]func(*testing.T, fault.Fault, http.HandlerFunc) (*httptest.Server, *outcome){"HTTP/1": plain, "HTTP/2": h2} {
		for kind, backend := range map[string]http.HandlerFunc{"sized": healthy("0123456789"), "chunked": chunked} {
			t.Run(name+" "+kind, func(t *testing.T) {
				s, o := start(t, &onSecond{Fault: &fault.Truncate{}}, backend)
				if got := describe(s.Client().Get(s.URL)); !strings.HasPrefix(got, `200 "0123456789`) {
					t.Fatal(got)
				}
				resp, again, err := reused(t, s.Client(), s.URL)
				got := describe(resp, err)
				if !again || !strings.Contains(got, "200, then error: ") || o.cut.Load() != 1 {
					t.Errorf("got %s (reused: %v)", got, again)
				}
			})
		}
	}
}

// TestTruncateProxied cuts what a reverse proxy passes on.
func TestTruncateProxied(t *testing.T) {
	for name, c := range map[string]struct {
		backend http.HandlerFunc
		head    string
		body    string
	}{
		"sized":   {healthy("0123456789"), "Content-Length: 10", "01234"},
		"chunked": {chunked, "chunked", "\r\n01234"},
		"large":   {healthy(strings.Repeat("x", 1<<20)), "chunked", "xxx"},
		"empty":   {healthy(""), "Content-Length: 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, &fault.Truncate{}, proxyTo(t, c.backend))
			answer, err := raw(t, s, getText)
			head, body := split(answer)
			if err != nil || !strings.Contains(head, c.head) || !strings.Contains(body, c.body) || o.cut.Load() != 1 {
				t.Errorf("got\n%s\n\n%.50q and then %v; want %s and %q", head, body, err, c.head, c.body)
			}
			if strings.HasSuffix(body, "0\r\n\r\n") {
				t.Error("the last chunk was sent")
			}
		})
	}
}

func TestTruncateInFrontOfAReset(t *testing.T) {
	s, _ := plain(t, fault.Chain(&fault.Truncate{}, &fault.Reset{}), healthy("hi"))
	if answer, err := raw(t, s, getText); answer != "" || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %q and then %v", answer, err)
	}
}

// A connection over which a request came just before it would have been closed stays open.
func TestIdleCloseLosesTheRace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		fault.CloseLate(&fault.IdleClose{After: time.Hour}, here)
		_ = there.SetReadDeadline(time.Now().Add(time.Minute))
		if _, err := there.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error(err)
		}
	})
}
