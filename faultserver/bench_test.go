package faultserver_test

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// The benchmarks run a baseline and the server in turns, in the same run, and report the ratio of requests per second.
// Only the ratio means something: both share the machine with the load that is put on them.

const (
	connections = 32
	round       = 50 * time.Millisecond
)

var (
	get  = []byte("GET /driver/status HTTP/1.1\r\nHost: api.test\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n")
	post = []byte("POST /driver/status HTTP/1.1\r\nHost: api.test\r\nUser-Agent: bench\r\nContent-Type: application/json\r\n" +
		"Idempotency-Key: 7f9c24e8-3b12-4fef-91e0-0c1d7d5f0a11\r\nContent-Length: 64\r\n\r\n" + strings.Repeat("x", 64))
)

const outage = `{"error":"unavailable"}` + "\n"

// BenchmarkStatusFault: budget 0.8 of a handler that reads the same and answers the same.
func BenchmarkStatusFault(b *testing.B) {
	bare := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, outage)
	})
	b.Run("get", func(b *testing.B) { compare(b, get, serve(b, bare), outageServer(b)) })
	b.Run("post", func(b *testing.B) { compare(b, post, serve(b, bare), outageServer(b)) })
}

func outageServer(b *testing.B) (addr string) {
	s := faultserver.New()
	b.Cleanup(func() { s.Close() })
	err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{
		Name:  "outage",
		Match: faultserver.Match{Path: "/driver/{what}"},
		Fault: fault.Of("status", &fault.Status{Code: 503, Body: outage, Headers: map[string]string{"Content-Type": "application/json"}}),
	}}})
	if err != nil {
		b.Fatal(err)
	}
	return listen(b, s)
}

// BenchmarkProxy: budget 0.9 of a plain httputil.ReverseProxy with a transport that is tuned as well.
func BenchmarkProxy(b *testing.B) {
	upstream, _ := url.Parse("http://" + serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"ok"}`+"\n")
	})))
	plain := &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(upstream) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true},
	}
	subject := func(b *testing.B) (addr string) {
		s := faultserver.New(faultserver.WithUpstream(upstream))
		b.Cleanup(func() { s.Close() })
		return listen(b, s)
	}
	b.Run("get", func(b *testing.B) { compare(b, get, serve(b, plain), subject(b)) })
	b.Run("post", func(b *testing.B) { compare(b, post, serve(b, plain), subject(b)) })
}

func listen(tb testing.TB, s *faultserver.Server) (addr string) {
	tb.Helper()
	at, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		tb.Fatal(err)
	}
	return strings.TrimPrefix(at, "http://")
}

func serve(tb testing.TB, h http.Handler) (addr string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go server.Serve(l)
	tb.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// compare puts load on both addresses in short turns, because the machine may be busy with other things, and reports the
// median ratio.
func compare(b *testing.B, request []byte, baseline, subject string) {
	one, two := dial(b, baseline, request), dial(b, subject, request)
	one.stress(b)
	two.stress(b)
	var ratios []float64
	var base, subj float64
	for b.Loop() {
		x, y := one.stress(b), two.stress(b)
		base, subj = base+x, subj+y
		ratios = append(ratios, y/x)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(base/float64(len(ratios)), "baseline-req/s")
	b.ReportMetric(subj/float64(len(ratios)), "req/s")
	b.ReportMetric(0, "ns/op")
}

// load is a client that costs next to nothing: open connections and one request.
type load struct {
	request []byte
	conns   []net.Conn
	readers []*bufio.Reader
}

func dial(b *testing.B, addr string, request []byte) *load {
	return dialN(b, addr, request, connections)
}

func dialN(tb testing.TB, addr string, request []byte, n int) *load {
	tb.Helper()
	l := &load{request: request}
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { c.Close() })
		l.conns, l.readers = append(l.conns, c), append(l.readers, bufio.NewReader(c))
	}
	return l
}

// stress keeps the connections busy for a round and returns the requests per second.
func (l *load) stress(b *testing.B) float64 {
	var answered atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for i, c := range l.conns {
		all.Go(func() {
			for n := int64(0); ; n++ {
				if time.Since(began) >= round {
					answered.Add(n)
					return
				}
				_, err := c.Write(l.request)
				if err := cmp.Or(err, skipAnswer(l.readers[i])); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return float64(answered.Load()) / time.Since(began).Seconds()
}

// skipAnswer reads an answer that says its length.
func skipAnswer(r *bufio.Reader) error {
	length := 0
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if value, ok := bytes.CutPrefix(line, []byte("Content-Length: ")); ok {
			length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
		}
	}
	_, err := r.Discard(length)
	return err
}
