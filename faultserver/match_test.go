package faultserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
)

// wire sends a request as it is written here and returns the status that comes back.
func wire(t *testing.T, addr, request string) int {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = io.WriteString(c, request)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatalf("%q: %v", request, err)
	}
	answer.Body.Close()
	return answer.StatusCode
}

// A rule takes the requests that gorilla/mux would route to it, and leaves all others to the backend.
func TestMatch(t *testing.T) {
	const head = " HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n"
	for _, c := range []struct {
		name  string
		match faultserver.Match
		hit   []string // request lines without the version, headers after a |
		miss  []string
	}{
		{"everything", faultserver.Match{},
			[]string{"GET /", "DELETE /a/b?c=d", "HEAD /", "OPTIONS *", "OPTIONS /", "GET //", "GET /%2F", "BREW /pot", "GET http://other.test/"}, nil},
		{"method", faultserver.Match{Methods: []string{"post", "PUT"}, Path: "/a"},
			[]string{"POST /a", "PUT /a"}, []string{"GET /a", "HEAD /a", "OPTIONS /a", "POST /b"}},
		{"path", faultserver.Match{Path: "/drivers/{id:[0-9]+}/status"},
			[]string{"GET /drivers/7/status", "GET /drivers/7/status?x=1"},
			[]string{"GET /drivers/x/status", "GET /drivers/7/status/", "GET /drivers//status", "GET //drivers/7/status", "GET /a/../drivers/7/status", "OPTIONS *"}},
		{"escaped path", faultserver.Match{Path: "/files/{name}"},
			[]string{"GET /files/a%2Fb", "GET /files/a%20b"}, []string{"GET /files/a/b"}},
		{"double slash", faultserver.Match{Path: "//"}, []string{"GET //"}, []string{"GET /", "GET ///"}},
		{"prefix", faultserver.Match{PathPrefix: "/v1/"}, []string{"GET /v1/", "GET /v1/a//b"}, []string{"GET /v1", "GET /v2/"}},
		{"host", faultserver.Match{Host: "{tenant}.api.test"}, []string{"GET http://a.api.test/", "GET http://a.api.test:8080/"}, []string{"GET /", "GET http://a.b.api.test/"}},
		{"header", faultserver.Match{Headers: map[string]string{"x-kind": "a", "X-Other": ""}},
			[]string{"GET /|X-Kind: a\r\nX-Other: whatever"}, []string{"GET /|X-Kind: a", "GET /|X-Kind: b\r\nX-Other: y"}},
		{"query", faultserver.Match{Queries: map[string]string{"page": "{n:[0-9]+}", "q": ""}},
			[]string{"GET /?page=3&q=x", "GET /?q=&page=3"}, []string{"GET /", "GET /?page=x&q=x", "GET /?page=3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := faultserver.New()
			defer s.Close()
			if err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Match: c.match, Fault: status(503)}}}); err != nil {
				t.Fatal(err)
			}
			at, err := s.Listen("127.0.0.1:0", "")
			if err != nil {
				t.Fatal(err)
			}
			send := func(line string, want int) {
				line, headers, _ := strings.Cut(line, "|")
				if headers != "" {
					headers += "\r\n"
				}
				if got := wire(t, strings.TrimPrefix(at, "http://"), line+head+headers+"\r\n"); got != want {
					t.Errorf("%s: %d, want %d", line, got, want)
				}
			}
			for _, line := range c.hit {
				send(line, 503)
			}
			for _, line := range c.miss {
				send(line, 200)
			}
			if fired := s.Fired()["rule-1"]; fired != uint64(len(c.hit)) {
				t.Errorf("fired %d times, want %d", fired, len(c.hit))
			}
		})
	}
}

// The journal keeps the path as the client sent it.
func TestPathsAreKept(t *testing.T) {
	s := faultserver.New()
	defer s.Close()
	at, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ target, path, query string }{
		{"/", "/", ""},
		{"//a//", "//a//", ""},
		{"/a/../b", "/a/../b", ""},
		{"/a%2Fb%20c?x=%2F;y", "/a%2Fb%20c", "x=%2F;y"},
		{"*", "*", ""},
	} {
		wire(t, strings.TrimPrefix(at, "http://"), fmt.Sprintf("OPTIONS %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", c.target))
		entries := s.Journal().Entries()
		if e := entries[len(entries)-1]; e.Path != c.path || e.Query != c.query {
			t.Errorf("%s: path %q, query %q; want %q, %q", c.target, e.Path, e.Query, c.path, c.query)
		}
	}
}

// A request whose method differs is no hit of the rule.
func TestMethodThatDiffersIsNotCounted(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, first(1, faultserver.Rule{Match: faultserver.Match{Methods: []string{"POST"}}, Fault: status(503)}))
		if got := []int{w.do(t, "GET /"), w.do(t, "POST /"), w.do(t, "POST /")}; fmt.Sprint(got) != "[200 503 200]" {
			t.Errorf("got %v", got)
		}
	})
}
