package fault_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"hash/maphash"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// recorder sees an exchange as the fault server does.
type recorder struct {
	http.ResponseWriter
	outcome *outcome
	client  string
	payload uint64
	byHand  bool
	cut     bool
}

// outcome is what became of the exchanges of one server.
type outcome struct {
	exchanges, cut, left atomic.Int32
	asked                atomic.Int32 // times that the backend was
	status               atomic.Int32 // of an answer that was sent by hand
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) Client() string { return r.client }

func (r *recorder) Payload() (sum uint64, ok bool) { return r.payload, r.payload != 0 }

func (r *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(r.ResponseWriter).Hijack()
	if err == nil && !r.byHand {
		r.Cut()
	}
	return conn, rw, err
}

func (r *recorder) Sends(status int) {
	r.byHand = true
	r.outcome.status.Store(int32(status))
}

func (r *recorder) Cut() {
	if !r.cut {
		r.cut = true
		r.outcome.cut.Add(1)
	}
}

func (r *recorder) Left() { r.outcome.left.Add(1) }

// server answers through f, in front of backend.
func server(t *testing.T, f fault.Fault, backend http.HandlerFunc) (*httptest.Server, *outcome) {
	t.Helper()
	o := new(outcome)
	s := httptest.NewUnstartedServer(observed(f, backend, o))
	s.Config.ErrorLog = quiet
	t.Cleanup(s.Close)
	return s, o
}

// quiet drops what net/http logs about connections that break on purpose.
var quiet = log.New(io.Discard, "", 0)

var seed = maphash.MakeSeed()

// observed is f in front of backend, as the fault server would run it.
func observed(f fault.Fault, backend http.HandlerFunc, o *outcome) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.exchanges.Add(1)
		x := &recorder{ResponseWriter: w, outcome: o, client: r.Header.Get("X-Client")}
		defer func() {
			if p := recover(); p != nil {
				x.Cut()
				panic(p)
			}
		}()
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if len(body) > 0 {
			x.payload = maphash.Bytes(seed, body)
		}
		f.Inject(x, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			o.asked.Add(1)
			backend(w, r)
		}))
	})
}

// healthy answers 200 with body.
func healthy(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

// plain starts server over cleartext HTTP/1.
func plain(t *testing.T, f fault.Fault, backend http.HandlerFunc) (*httptest.Server, *outcome) {
	s, o := server(t, f, backend)
	s.Start()
	return s, o
}

// h2 starts server over HTTP/2.
func h2(t *testing.T, f fault.Fault, backend http.HandlerFunc) (*httptest.Server, *outcome) {
	s, o := server(t, f, backend)
	s.EnableHTTP2 = true
	s.StartTLS()
	return s, o
}

// raw sends a request as text over a connection of its own and reads until the end.
func raw(t *testing.T, s *httptest.Server, request string) (answer string, err error) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return converse(t, conn, request)
}

// rawTLS is raw over TLS.
func rawTLS(t *testing.T, s *httptest.Server, request string) (answer string, err error) {
	t.Helper()
	conn, err := tls.Dial("tcp", s.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	return converse(t, conn, request)
}

func converse(t *testing.T, conn net.Conn, request string) (string, error) {
	t.Helper()
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

// getText is a GET in raw form.
const getText = "GET / HTTP/1.1\r\nHost: t\r\n\r\n"

// split cuts a raw answer into head and body.
func split(answer string) (head, body string) {
	head, body, _ = strings.Cut(answer, "\r\n\r\n")
	return head, body
}

// reused sends a POST, which Go's client does not repeat by itself, and tells whether it went over a used connection.
func reused(t *testing.T, client *http.Client, url string) (resp *http.Response, reused bool, err error) {
	t.Helper()
	var got atomic.Bool
	ctx := withConnTrace(context.Background(), func(r bool) { got.Store(r) })
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err = client.Do(request)
	return resp, got.Load(), err
}

// onSecond lets the first exchange of a connection pass, so that the fault meets a reused one.
type onSecond struct {
	fault.Fault
	n atomic.Int32
}

func (o *onSecond) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if o.n.Add(1) == 1 {
		next.ServeHTTP(w, r)
		return
	}
	o.Fault.Inject(w, r, next)
}

func describe(resp *http.Response, err error) string {
	if err != nil {
		return fmt.Sprint("error: ", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Sprintf("%d, then error: %v", resp.StatusCode, err)
	}
	return fmt.Sprintf("%d %q", resp.StatusCode, body)
}
