package fault_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/retrygate/retrygate/faultserver/fault"
)

// TestGarbledAnswersOnTheWire looks at the bytes of answers that are not what their heads say.
func TestGarbledAnswersOnTheWire(t *testing.T) {
	const whole = "0123456789"
	get10 := "GET / HTTP/1.0\r\nHost: t\r\n\r\n"
	head := strings.Replace(getText, "GET", "HEAD", 1)
	long := strings.Repeat("x", 1<<17)
	noBody := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }
	twice := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(103)
		w.WriteHeader(201)
		w.WriteHeader(500)
		_, _ = io.WriteString(w, whole)
	}
	for name, c := range map[string]struct {
		fault   fault.Fault
		backend http.HandlerFunc
		request string
		head    string // is part of the head; "": no answer comes
		body    string
	}{
		"declared, cut":            {&fault.Truncate{Bytes: new(3), Length: new(100)}, healthy(whole), getText, "Content-Length: 100\r\n", "012"},
		"declared, too short":      {&fault.Truncate{Bytes: new(30), Length: new(100)}, healthy(whole), getText, "Content-Length: 100\r\n", whole},
		"declared, chunked":        {&fault.Truncate{Bytes: new(12), Length: new(15)}, chunked, getText, "Content-Length: 15\r\n", "0123456789ab"},
		"declared, long":           {&fault.Truncate{Bytes: new(2), Length: new(5)}, healthy(long), getText, "Content-Length: 5\r\n", "xx"},
		"too long":                 {&fault.WrongLength{By: 5}, healthy(whole), getText, "Content-Length: 15\r\n", whole},
		"too long, default":        {&fault.WrongLength{}, sized(whole), getText, "Content-Length: 11\r\n", whole},
		"too long, empty":          {&fault.WrongLength{By: 5}, healthy(""), getText, "Content-Length: 5\r\n", ""},
		"too long, chunked":        {&fault.WrongLength{By: 5}, chunked, getText, "Content-Length: 1099511627776\r\n", "0123456789abcdefghij"},
		"too short":                {&fault.WrongLength{By: -4}, healthy(whole), getText, "Content-Length: 6\r\n", whole},
		"too short, sized":         {&fault.WrongLength{By: -4}, sized(whole), getText, "Content-Length: 6\r\n", whole},
		"too short by all":         {&fault.WrongLength{By: -40}, healthy(whole), getText, "Content-Length: 0\r\n", whole},
		"too short, empty":         {&fault.WrongLength{By: -4}, healthy(""), getText, "Content-Length: 0\r\n", "xxxx"},
		"too short, long":          {&fault.WrongLength{By: -4}, healthy(long), getText, "\r\nContent-Length: ", long},
		"too short, chunked":       {&fault.WrongLength{By: -4}, chunked, getText, "Content-Length: 6\r\n", "0123456789abcdefghij"},
		"too short, after interim": {&fault.WrongLength{By: -4}, twice, getText, "103 Early Hints", "HTTP/1.1 201 Created"},
		"too long, HEAD":           {&fault.WrongLength{By: 5}, sized(""), head, "Content-Length: 15\r\n", ""},
		"too short, HEAD":          {&fault.WrongLength{By: -5}, sized(""), head, "Content-Length: 5\r\n", ""},
		"too long, 204":            {&fault.WrongLength{By: 5}, noBody, getText, "", ""},
		"bad chunk":                {&fault.BadChunk{Bytes: 4}, healthy(whole), getText, "Transfer-Encoding: chunked\r\n", "4\r\n0123\r\nxyz\r\n"},
		"bad chunk first":          {&fault.BadChunk{}, sized(whole), getText, "Transfer-Encoding: chunked\r\n", "xyz\r\n"},
		"bad chunk last":           {&fault.BadChunk{Bytes: 99}, healthy(whole), getText, "Transfer-Encoding: chunked\r\n", "a\r\n0123456789\r\nxyz\r\n"},
		"bad chunk between":        {&fault.BadChunk{Bytes: 12}, chunked, getText, "Transfer-Encoding: chunked\r\n", "a\r\n0123456789\r\n2\r\nab\r\nxyz\r\n"},
		"bad chunk, empty":         {&fault.BadChunk{Bytes: 5}, healthy(""), getText, "Transfer-Encoding: chunked\r\n", "xyz\r\n"},
		"bad chunk, silent":        {&fault.BadChunk{}, func(http.ResponseWriter, *http.Request) {}, getText, "HTTP/1.1 200 OK\r\n", "xyz\r\n"},
		"bad chunk, 204":           {&fault.BadChunk{}, noBody, getText, "", ""},
		"bad chunk, HEAD":          {&fault.BadChunk{}, healthy(whole), head, "", ""},
		"bad chunk, HTTP/1.0":      {&fault.BadChunk{}, healthy(whole), get10, "Transfer-Encoding: chunked\r\n", "xyz\r\n"},
		"bad line":                 {&fault.Garbage{Line: "HTTP/1.1 2OO OK"}, healthy(whole), getText, "HTTP/1.1 2OO OK\r\nContent-Length: 0\r\nConnection: close", ""},
	} {
		check := func(t *testing.T, o *outcome, answer string, err error) {
			got, body := split(answer)
			if err != nil || !strings.Contains(got+"\r\n", c.head) || !strings.HasPrefix(body, c.body) || len(body) > len(c.body)+200 || c.head == "" && answer != "" {
				t.Errorf("got\n%s\n\n%.99q and then %v; want %s and %.99q", got, body, err, c.head, c.body)
			}
			if o.cut.Load() != 1 || o.left.Load() != 0 {
				t.Errorf("the exchange counts as cut %d times, left %d times", o.cut.Load(), o.left.Load())
			}
		}
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, c.fault, c.backend)
			answer, err := raw(t, s, c.request)
			check(t, o, answer, err)
		})
		t.Run(name+" over TLS", func(t *testing.T) {
			s, o := server(t, c.fault, c.backend)
			s.StartTLS()
			answer, err := rawTLS(t, s, c.request)
			check(t, o, answer, err)
		})
	}
}

// TestGarbledAnswersProxied garbles what a reverse proxy passes on.
func TestGarbledAnswersProxied(t *testing.T) {
	for name, c := range map[string]struct {
		fault      fault.Fault
		backend    http.HandlerFunc
		head, body string
	}{
		"too long":           {&fault.WrongLength{By: 5}, healthy("0123456789"), "Content-Length: 15\r\n", "0123456789"},
		"too short":          {&fault.WrongLength{By: -5}, healthy("0123456789"), "Content-Length: 5\r\n", "0123456789"},
		"too short, chunked": {&fault.WrongLength{By: -5}, chunked, "Content-Length: ", "0123456789abcdefghij"},
		"too short, empty":   {&fault.WrongLength{By: -5}, healthy(""), "Content-Length: 0\r\n", "xxxxx"},
		"bad chunk":          {&fault.BadChunk{Bytes: 3}, healthy("0123456789"), "chunked\r\n", "3\r\n012\r\nxyz\r\n"},
		"bad chunk, large":   {&fault.BadChunk{}, healthy(strings.Repeat("x", 1<<20)), "chunked\r\n", "xyz\r\n"},
		"cut, declared":      {&fault.Truncate{Bytes: new(3), Length: new(7)}, chunked, "Content-Length: 7\r\n", "012"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, c.fault, proxyTo(t, c.backend))
			answer, err := raw(t, s, getText)
			head, body := split(answer)
			if err != nil || !strings.Contains(head+"\r\n", c.head) || body != c.body || o.cut.Load() != 1 {
				t.Errorf("got\n%s\n\n%.50q and then %v; want %s and %q", head, body, err, c.head, c.body)
			}
		})
	}
}

// proxyTo is a reverse proxy in front of an upstream of its own.
func proxyTo(t *testing.T, upstream http.HandlerFunc) http.HandlerFunc {
	s := httptest.NewServer(upstream)
	t.Cleanup(s.Close)
	target, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, ErrorLog: quiet, Transport: transport}
	return proxy.ServeHTTP
}

// TestGarbledInFrontOfOthers breaks as the fault behind does, and leaves no connection open.
func TestGarbledInFrontOfOthers(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"too short": &fault.WrongLength{By: -1}, "too long": &fault.WrongLength{By: 1}, "bad chunk": &fault.BadChunk{},
		"slow": &fault.SlowHead{}, "wrong encoding": &fault.WrongEncoding{}, "flood": &fault.HeaderFlood{Headers: 3},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, fault.Chain(f, &fault.Reset{}), healthy("hi"))
			if answer, err := raw(t, s, getText); answer != "" || !errors.Is(err, syscall.ECONNRESET) || o.cut.Load() != 1 {
				t.Errorf("got %q and then %v, cut %d times", answer, err, o.cut.Load())
			}
		})
	}
}
