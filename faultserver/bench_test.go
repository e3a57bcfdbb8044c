package faultserver_test

import (
	"bufio"
	"bytes"
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
	round       = 200 * time.Millisecond
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

func listen(b *testing.B, s *faultserver.Server) (addr string) {
	b.Helper()
	at, err := s.Listen("127.0.0.1:0", "")
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimPrefix(at, "http://")
}

func serve(b *testing.B, h http.Handler) (addr string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: h}
	go server.Serve(l)
	b.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// compare puts load on both addresses in turns and reports the median ratio.
func compare(b *testing.B, request []byte, baseline, subject string) {
	var ratios []float64
	var base, subj float64
	stress(b, baseline, request)
	stress(b, subject, request)
	for b.Loop() {
		one := stress(b, baseline, request)
		two := stress(b, subject, request)
		base, subj = base+one, subj+two
		ratios = append(ratios, two/one)
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(base/float64(len(ratios)), "baseline-req/s")
	b.ReportMetric(subj/float64(len(ratios)), "req/s")
	b.ReportMetric(0, "ns/op")
}

// stress keeps a number of connections busy for a round, with a client that costs next to nothing, and returns the
// requests per second.
func stress(b *testing.B, addr string, request []byte) float64 {
	var answered atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range connections {
		all.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				b.Error(err)
				return
			}
			defer c.Close()
			r := bufio.NewReader(c)
			n := int64(0)
			for time.Since(began) < round {
				if _, err := c.Write(request); err != nil {
					b.Error(err)
					return
				}
				if err := skipAnswer(r); err != nil {
					b.Error(err)
					return
				}
				n++
			}
			answered.Add(n)
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
