package faultserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

var hang = fault.Of("hang", faultFunc(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }))

// Close ends hangs at once: the client sees its connection broken, never an answer, and nothing stays behind.
func TestCloseEndsHangs(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := faultserver.New()
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Fault: hang}}}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	const clients = 20
	ended := make(chan error, clients)
	for i := range clients {
		at, err := s.Listen("127.0.0.1:0", fmt.Sprintf("app-%d", i))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			answer, err := (&http.Client{Transport: transport}).Post(at, "", strings.NewReader("x"))
			if err == nil {
				err = fmt.Errorf("an answer: %s", answer.Status)
				answer.Body.Close()
			} else if strings.Contains(err.Error(), "EOF") || strings.Contains(err.Error(), "reset") {
				err = nil
			}
			ended <- err
		}()
	}
	for s.Journal().Len() < clients {
		<-s.Journal().Changed()
	}
	began := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("closing took %v", took)
	}
	for range clients {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, e := range s.Journal().Entries() {
		if e.Open || !e.Cut || e.Status != 0 || e.Gone != 0 {
			t.Errorf("%+v", e)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
	if _, err := s.Listen("127.0.0.1:0", ""); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("listening on a closed server: %v", err)
	}
}

// A fault that does not look at its context cannot hold Close up.
func TestCloseLeavesStubbornFaults(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Fault: fault.Of("stubborn", faultFunc(func(http.ResponseWriter, *http.Request, http.Handler) { time.Sleep(time.Hour) }))})
		go w.do(t, "GET /")
		synctest.Wait()
		began := time.Now()
		w.Close()
		if took := time.Since(began); took > time.Second {
			t.Errorf("closing took %v", took)
		}
		time.Sleep(2 * time.Hour)
	})
}

// Mounted in someone else's server, faults end with this one all the same.
func TestMounted(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := faultserver.New()
	outer := httptest.NewServer(s)
	defer outer.Close()
	if answer, err := outer.Client().Get(outer.URL); err != nil {
		t.Fatal(err)
	} else {
		answer.Body.Close()
	}
	if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Fault: hang}}}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for s.Journal().Len() < 2 {
			<-s.Journal().Changed()
		}
		s.Close()
	}()
	if answer, err := outer.Client().Get(outer.URL); err == nil {
		answer.Body.Close()
		t.Errorf("an answer: %s", answer.Status)
	}
	a, b := s.Journal().Entries()[0], s.Journal().Entries()[1]
	if a.Client != "127.0.0.1" || a.Conn == 0 || a.Status != 200 || b.Status != 0 || !b.Cut || b.Gone != 0 {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestListenStaysOnLoopback(t *testing.T) {
	s := faultserver.New()
	defer s.Close()
	for _, addr := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:80"} {
		if at, err := s.Listen(addr, ""); err == nil || !strings.Contains(err.Error(), "can be reached from other machines") {
			t.Errorf("%s: %q, %v", addr, at, err)
		}
	}
	wide, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(wide, ""); err == nil || !strings.Contains(err.Error(), "can be reached from other machines") {
		t.Errorf("serving: %v", err)
	}
	for _, addr := range []string{"127.0.0.1:0", "localhost:0"} {
		if _, err := s.Listen(addr, ""); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	free := faultserver.New(faultserver.AllowRemote())
	defer free.Close()
	if _, err := free.Listen(":0", ""); err != nil {
		t.Errorf("allowed: %v", err)
	}
}

func TestListenErrors(t *testing.T) {
	s := faultserver.New()
	defer s.Close()
	at, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]string{
		strings.TrimPrefix(at, "http://"): "address already in use",
		"127.0.0.1":                       "missing port",
		"127.0.0.1:http-alt-2":            `listen address "127.0.0.1:http-alt-2"`,
	} {
		if _, err := s.Listen(addr, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", addr, err, want)
		}
	}
}

// Each listener has its client; without one, headers or the other end's address tell.
func TestClients(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.listen(t, "one.test:80", "one")
		w.listen(t, "two.test:80", "two")
		for _, c := range []struct {
			request, header, value, want string
		}{
			{"GET http://one.test/", "Authorization", "secret", "one"},
			{"GET http://two.test/", "X-Tenant", "t", "two"},
			{"GET /", "X-Tenant", "t", "t"},
			{"GET /", "Accept", "*/*", "127.0.0.1"},
		} {
			w.do(t, c.request, c.header, c.value)
			if e := w.last(t); e.Client != c.want {
				t.Errorf("%s, %s: %s is %q, want %q", c.request, c.header, c.value, e.Client, c.want)
			}
		}
		w.do(t, "GET /", "Authorization", "secret")
		if e := w.last(t); !strings.HasPrefix(e.Client, "key:") || e.Auth == 0 || strings.Contains(fmt.Sprint(e), "secret") {
			t.Errorf("%+v", e)
		}
	}, faultserver.WithClientHeader("X-Tenant"))
}

// Rules apply to each request, on connections from before the plan too; connections are numbered.
func TestPlanOnOpenConnections(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		var got []int
		got = append(got, w.do(t, "GET /"))
		w.use(t, faultserver.Rule{Fault: status(501)})
		got = append(got, w.do(t, "GET /"), w.do(t, "GET /"))
		w.use(t)
		got = append(got, w.do(t, "GET /"))
		w.client.CloseIdleConnections()
		got = append(got, w.do(t, "GET /"))
		if fmt.Sprint(got) != "[200 501 501 200 200]" {
			t.Errorf("got %v", got)
		}
		var conns []uint64
		for _, e := range w.Journal().Entries() {
			conns = append(conns, e.Conn)
		}
		if fmt.Sprint(conns) != "[1 1 1 1 2]" {
			t.Errorf("connections %v", conns)
		}
	})
}

// A bad plan changes nothing.
func TestUseKeepsThePlanOnError(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "good", Fault: status(503)})
		if err := w.Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "bad"}}}); err == nil {
			t.Fatal("a rule without a fault was taken")
		}
		if got := w.do(t, "GET /"); got != 503 || w.Fired()["good"] != 1 {
			t.Errorf("%d, %v", got, w.Fired())
		}
	})
}

// HTTP/2 without TLS is there for clients that know; an aborted exchange resets its stream, and not the connection.
func TestHTTP2(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		abort := fault.Of("abort", faultFunc(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			if _, _, err := http.NewResponseController(w).Hijack(); err == nil {
				t.Error("an HTTP/2 connection was hijacked")
			}
			panic(http.ErrAbortHandler)
		}))
		half := fault.Of("half", faultFunc(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			_, _ = w.Write([]byte("half"))
			panic(http.ErrAbortHandler)
		}))
		w.use(t,
			faultserver.Rule{Match: faultserver.Match{Path: "/abort"}, Fault: abort},
			faultserver.Rule{Match: faultserver.Match{Path: "/half"}, Fault: half},
			faultserver.Rule{Match: faultserver.Match{Path: "/hang"}, Fault: hang},
			faultserver.Rule{Match: faultserver.Match{Path: "/503"}, Fault: status(503)})
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		transport := &http.Transport{DialContext: w.network.DialContext, Protocols: protocols}
		defer transport.CloseIdleConnections()
		w.client = &http.Client{Transport: transport}

		if code, body := w.ask(t, "POST /503", "x"); code != 503 {
			t.Errorf("status: %d %s", code, body)
		}
		if code, text := w.ask(t, "GET /abort", ""); code != 0 || !strings.Contains(text, "INTERNAL_ERROR") {
			t.Errorf("abort: %d %s", code, text)
		}
		if code, text := w.ask(t, "GET /half", ""); code != 200 || !strings.HasPrefix(text, "half!") {
			t.Errorf("half: %d %s", code, text)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*second)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, "GET", "http://api.test/hang", nil)
		if _, err := w.client.Do(r); err == nil {
			t.Error("a hang was answered")
		}
		synctest.Wait()
		entries := w.Journal().Entries()
		for i, want := range []string{"503 false 0s", "0 true 0s", "200 true 0s", "0 true 3s"} {
			e := entries[i]
			if got := fmt.Sprint(e.Status, " ", e.Cut, " ", e.Gone); got != want || e.Proto != "HTTP/2.0" || e.Conn != 1 || e.Open {
				t.Errorf("entry %d: %s, want %s: %+v", i, got, want, e)
			}
		}
	})
}

// Where strangers can connect, a request's head has to come within a minute.
func TestSlowHead(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		c, err := w.network.DialContext(t.Context(), "", "api.test:80")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		began := time.Now()
		_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost:"))
		_, _ = c.Read(make([]byte, 1))
		if took := time.Since(began); took != time.Minute {
			t.Errorf("closed after %v", took)
		}
	}, faultserver.AllowRemote())
}

// Headers beyond the limit are refused before they are a request.
func TestHeaderLimit(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		if got := w.do(t, "GET /", "X-Large", strings.Repeat("x", 100<<10)); got != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("got %d", got)
		}
	})
}

func TestDisconnectEndsOneClient(t *testing.T) {
	s := faultserver.New(faultserver.WithErrorLog(nil))
	defer s.Close()
	one, err := s.Listen("127.0.0.1:0", "one")
	if err != nil {
		t.Fatal(err)
	}
	two, err := s.Listen("127.0.0.1:0", "two")
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Client{Transport: &http.Transport{}}
	defer h.CloseIdleConnections()
	get := func(url string) error {
		resp, err := h.Get(url)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.Body.Close()
	}
	if err := errors.Join(get(one), get(two)); err != nil { // both keep their connections
		t.Fatal(err)
	}
	if err := s.Disconnect("one"); err != nil {
		t.Fatal(err)
	}
	if err := get(one); err == nil {
		t.Error("one is still answered")
	}
	if err := get(two); err != nil {
		t.Errorf("two is not: %v", err)
	}
	if n := s.Journal().Len(); n != 3 {
		t.Errorf("%d exchanges, want 3", n)
	}
}
