package fault_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
)

func TestWrongEncoding(t *testing.T) {
	compressed := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, "hi")
		_ = z.Close()
	}
	willing := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "" {
			compressed(w, r)
			return
		}
		_, _ = io.WriteString(w, "0123456789")
	}
	for name, c := range map[string]struct {
		says    string
		backend http.HandlerFunc
		want    string
	}{
		"gzip":               {"", healthy("0123456789"), "200, then error: gzip: invalid header"},
		"in pieces":          {"gzip", chunked, "200, then error: gzip: invalid header"},
		"nothing":            {"gzip", func(http.ResponseWriter, *http.Request) {}, `200 ""`},
		"not the client's":   {"br", healthy("hi"), `200 "hi"`},
		"compressed already": {"gzip", compressed, "200, then error: gzip: invalid header"},
		"would compress":     {"gzip", willing, "200, then error: gzip: invalid header"},
		"through a proxy":    {"gzip", proxyTo(t, willing), "200, then error: gzip: invalid header"},
	} {
		t.Run(name, func(t *testing.T) {
			s, o := plain(t, &fault.WrongEncoding{Says: c.says}, c.backend)
			resp, err := s.Client().Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			said := resp.Header.Get("Content-Encoding") == "br" || resp.Uncompressed || resp.ContentLength == 0
			if got := describe(resp, err); got != c.want || !said || o.cut.Load() != 0 {
				t.Errorf("got %s (%v); want %s", got, resp.Header, c.want)
			}
		})
	}
}

func TestHeaderFlood(t *testing.T) {
	for name, c := range map[string]struct {
		flood          fault.HeaderFlood
		headers, bytes int
	}{
		"default": {fault.HeaderFlood{}, 1000, 1024}, "many": {fault.HeaderFlood{Headers: 5000, Bytes: 1}, 5000, 1}, "large": {fault.HeaderFlood{Headers: 1, Bytes: 1 << 20}, 1, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := plain(t, fault.Chain(&c.flood, &fault.Status{Code: 429}), healthy("never"))
			resp, err := s.Client().Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if n := len(resp.Header.Get("X-Flood-1")); len(resp.Header) != c.headers+3 || n != c.bytes || resp.StatusCode != 429 {
				t.Errorf("%d, %d headers, the first of %d bytes", resp.StatusCode, len(resp.Header), n)
			}
		})
	}
}

// TestOversizeTakesNoMemory streams far more than that to a client that drops it.
func TestOversizeTakesNoMemory(t *testing.T) {
	const size = 256 << 20
	for _, chunked := range []bool{false, true} {
		s, o := plain(t, &fault.Oversize{Bytes: size, Chunked: chunked}, healthy("never"))
		resp, err := s.Client().Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := io.Copy(io.Discard, resp.Body)
		runtime.ReadMemStats(&after)
		resp.Body.Close()
		if grown := after.TotalAlloc - before.TotalAlloc; n != size || err != nil || grown > 8<<20 || o.cut.Load() != 0 || chunked != (resp.ContentLength < 0) {
			t.Errorf("%d bytes, %v, length %d, %d MiB allocated", n, err, resp.ContentLength, grown>>20)
		}
	}
}

// TestOversizeEndsWithTheClient that has seen enough.
func TestOversizeEndsWithTheClient(t *testing.T) {
	s, o := plain(t, &fault.Oversize{Bytes: 1 << 40}, healthy("never"))
	resp, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.CopyN(io.Discard, resp.Body, 1<<20)
	resp.Body.Close()
	s.Close() // waits for the handler
	if o.cut.Load() != 1 {
		t.Error("the exchange does not count as cut")
	}
}

func TestHangAfterAnInterimAnswer(t *testing.T) {
	for code, line := range map[int]string{100: "100 Continue", 102: "102 Processing", 103: "103 Early Hints", 199: "199 status code 199"} {
		got, o := pieces(t, &fault.Hang{Interim: code, For: time.Minute}, healthy("never"), getText)
		if want := "0s HTTP/1.1 " + line + "~~"; strings.Join(got, "|") != want || o.cut.Load() != 1 {
			t.Errorf("got %v, want %s; cut %d times", got, want, o.cut.Load())
		}
	}
}

// TestCommitPair compares the two halves: the client sees the same, and only the backend knows which it was.
func TestCommitPair(t *testing.T) {
	for name, by := range map[string]fault.Loss{"reset": fault.ByReset, "close": fault.ByClose, "status": 502} {
		t.Run(name, func(t *testing.T) {
			seen := map[int32]string{}
			for asked, f := range []fault.Fault{&fault.FailBefore{By: by}, &fault.LoseAnswer{By: by}} {
				got := make(chan string, 1)
				s, o := plain(t, f, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					got <- string(body)
					w.Header().Set("X-Secret", "of the upstream")
					w.WriteHeader(http.StatusCreated)
					_, _ = io.WriteString(w, strings.Repeat("x", 1<<20))
					_ = http.NewResponseController(w).Flush()
				})
				const post = "POST / HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello"
				answer, err := raw(t, s, post)
				if err != nil {
					answer = err.Error()[strings.LastIndex(err.Error(), ":"):]
				}
				answer, _, _ = strings.Cut(answer, "Date")
				seen[int32(asked)] = answer
				if n := o.asked.Load(); n != int32(asked) || n == 1 && <-got != "hello" {
					t.Errorf("the backend was asked %d times", n)
				}
			}
			if seen[0] != seen[1] || by == 502 && !strings.Contains(seen[0], "HTTP/1.1 502 Bad Gateway") || strings.Contains(seen[1], "Secret") {
				t.Errorf("before: %q; after: %q", seen[0], seen[1])
			}
		})
	}
}
