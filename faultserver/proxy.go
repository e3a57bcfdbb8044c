package faultserver

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// ParseUpstream reads the address of an API: http or https, a host, and perhaps a path that goes before every path.
func ParseUpstream(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("faultserver: upstream: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("faultserver: upstream %q is no address of an API; write it like https://staging.example.com", text)
	case u.Port() != "" && !validPort(u.Port()):
		return nil, fmt.Errorf("faultserver: upstream %q has port %s; ports go from 1 to 65535", text, u.Port())
	case u.RawQuery != "" || u.Fragment != "" || u.User != nil:
		return nil, fmt.Errorf("faultserver: upstream %q takes no query, fragment or password, only an address and a path", text)
	}
	return u, nil
}

func validPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// relay is the backend that asks the upstream.
type relay struct {
	upstream  *url.URL
	transport http.RoundTripper
	proxy     httputil.ReverseProxy
}

func newRelay(s *Server) *relay {
	b := &relay{upstream: s.upstream, transport: s.transport}
	if b.transport == nil {
		b.transport = &http.Transport{
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			MaxIdleConnsPerHost:    512, // fewer than there are clients at once would open and close one for each request
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 1 << 20,
			DisableCompression:     true, // what the client asked for is what it gets
			ForceAttemptHTTP2:      true,
		}
	}
	b.proxy = httputil.ReverseProxy{
		Rewrite:       b.rewrite,
		Transport:     b.transport,
		FlushInterval: -1, // the upstream's pace is part of what a client is tested with
		BufferPool:    &buffers{},
		ErrorHandler:  b.unanswered,
		ErrorLog:      s.errorLog,
	}
	return b
}

func (b *relay) answer(x *recorder, w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodConnect {
		http.Error(w, "retrygate: CONNECT wants a forward proxy; this one stands before one API", http.StatusNotImplemented)
		return
	}
	x.asked, x.relaying = true, true
	defer func() { x.relaying = false }()
	p, through := b.proxy, w != http.ResponseWriter(x)
	p.Transport = &sends{b.transport, x.entry}
	p.ModifyResponse = func(answer *http.Response) error {
		x.entry.Asked(answer.StatusCode)
		if answer.StatusCode < 100 {
			return fmt.Errorf("it answered with status %03d, which there is not", answer.StatusCode)
		}
		if _, typed := answer.Header["Content-Type"]; !typed {
			w.Header()["Content-Type"] = nil // net/http would guess one
		}
		if answer.StatusCode == http.StatusSwitchingProtocols {
			x.upgraded = true
			x.answers(answer.StatusCode)
		}
		if through && answer.ContentLength < 0 {
			answer.ContentLength = 0 // to ReverseProxy, a length that is not known is a reason to flush by itself
		}
		return nil
	}
	if through {
		w, p.FlushInterval = &paced{w}, 0
	}
	p.ServeHTTP(w, r)
}

// rewrite aims the request at the upstream and leaves everything else as the client sent it.
func (b *relay) rewrite(p *httputil.ProxyRequest) {
	path, raw, query := p.In.URL.Path, p.In.URL.RawPath, p.In.URL.RawQuery
	p.SetURL(b.upstream)
	if b.upstream.Path == "" {
		p.Out.URL.Path, p.Out.URL.RawPath = path, raw // "*" and "" too, which SetURL puts a slash before
	}
	p.Out.URL.RawQuery = query // SetURL would drop what it cannot parse
	if p.In.TLS != nil {
		p.Out.Header.Set("X-Forwarded-Proto", "https") // else an upstream may redirect to where the client came from
	}
	for _, name := range forwarding {
		if values, ok := p.In.Header[name]; ok {
			p.Out.Header[name] = values
		}
	}
}

// forwarding headers are taken away by ReverseProxy. The client under test sent them, so the upstream gets them.
var forwarding = [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// unanswered tells a client that the upstream did not answer. A client that left is told nothing.
func (b *relay) unanswered(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
	http.Error(w, fmt.Sprintf("retrygate: no answer from the upstream %s: %v", b.upstream.Redacted(), err), http.StatusBadGateway)
}

func (b *relay) close() {
	if t, ok := b.transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// buffers lends the memory that answers are copied through.
type buffers struct{ pool sync.Pool }

const bufferSize = 32 << 10

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return p[:]
	}
	return make([]byte, bufferSize)
}

func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferSize]byte)(p)) }
