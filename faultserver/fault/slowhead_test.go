package fault_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/memnet"
)

// pieces asks f over a connection of its own, in virtual time, and notes what comes at each time, with ~ for line ends.
func pieces(t *testing.T, f fault.Fault, backend http.HandlerFunc, request string) (got []string, o *outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var network memnet.Network
		l, err := network.Listen("t:80")
		if err != nil {
			t.Fatal(err)
		}
		o = new(outcome)
		s := &http.Server{Handler: observed(f, backend, o), ErrorLog: quiet}
		go func() { _ = s.Serve(l) }()
		conn, err := network.DialContext(t.Context(), "tcp", "t:80")
		if err != nil {
			t.Fatal(err)
		}
		start, last := time.Now(), time.Duration(0)
		_, _ = io.WriteString(conn, request)
		for buffer := make([]byte, 4096); err == nil; {
			var n int
			n, err = conn.Read(buffer)
			if at := time.Since(start); n > 0 && len(got) > 0 && at == last {
				got[len(got)-1] += string(buffer[:n])
			} else if n > 0 {
				got, last = append(got, fmt.Sprintf("%v %s", at, buffer[:n])), at
			}
		}
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], "\r\n", "~")
		}
		if !errors.Is(err, io.EOF) {
			got = append(got, err.Error())
		}
		_ = conn.Close()
		_ = s.Close()
		synctest.Wait()
	})
	return got, o
}

func TestSlowHeadSendsPieces(t *testing.T) {
	tiny := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "x")
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			_, _ = io.WriteString(w, body)
		}
	}
	streamed := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", "x")
		for _, piece := range []string{"ab", "", "c"} {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
		}
	}
	silent := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Date", "x") }
	for name, c := range map[string]struct {
		fault   fault.SlowHead
		backend http.HandlerFunc
		request string
		want    string
	}{
		"pieces": {fault.SlowHead{Bytes: 30, Every: time.Second}, tiny("hi"), getText,
			"0s HTTP/1.1 200 OK~Connection: c|1s lose~Content-Length: 2~Date:|2s  x~~hi"},
		"from the headers on": {fault.SlowHead{Bytes: 100, Every: time.Second, From: fault.Headers}, tiny("hi"), getText,
			"0s HTTP/1.1 200 OK~|1s Connection: close~Content-Length: 2~Date: x~~hi"},
		"in chunks": {fault.SlowHead{Bytes: 100}, streamed, getText,
			"0s HTTP/1.1 200 OK~Connection: close~Date: x~Transfer-Encoding: chunked~~2~ab~1~c~0~~"},
		"to HTTP/1.0": {fault.SlowHead{Bytes: 100}, streamed, strings.Replace(getText, "1.1", "1.0", 1),
			"0s HTTP/1.1 200 OK~Connection: close~Date: x~~abc"},
		"HEAD": {fault.SlowHead{Bytes: 40}, tiny("hi"), strings.Replace(getText, "GET", "HEAD", 1),
			"0s HTTP/1.1 200 OK~Connection: close~Cont|100ms ent-Length: 2~Date: x~~"},
		"nothing written": {fault.SlowHead{Bytes: 100}, silent, getText,
			"0s HTTP/1.1 200 OK~Connection: close~Date: x~Transfer-Encoding: chunked~~0~~"},
	} {
		t.Run(name, func(t *testing.T) {
			got, o := pieces(t, &c.fault, c.backend, c.request)
			if strings.Join(got, "|") != c.want {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "|"), c.want)
			}
			if o.cut.Load() != 0 || o.left.Load() != 0 || o.status.Load() != 200 {
				t.Errorf("cut %d times, left %d times, status %d", o.cut.Load(), o.left.Load(), o.status.Load())
			}
		})
	}
}

func TestSlowHeadByTheByte(t *testing.T) {
	got, _ := pieces(t, &fault.SlowHead{}, healthy("hi"), getText)
	if len(got) < 80 || got[0] != "0s H" || got[1] != "100ms T" || !strings.HasSuffix(got[len(got)-1], "2~hi~0~~") {
		t.Errorf("%d times: %q ... %q", len(got), got[:2], got[len(got)-1])
	}
}

// TestSlowHeadEndsWhenTheClientLeaves notices at once, in the middle of a pause of a minute.
func TestSlowHeadEndsWhenTheClientLeaves(t *testing.T) {
	virtual(t, &fault.SlowHead{Every: time.Minute}, healthy("hi"), func(t *testing.T, client *http.Client, o *outcome) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://t/", strings.NewReader("x"))
		if _, err := client.Do(r); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		synctest.Wait()
		if o.cut.Load() != 1 || o.left.Load() != 1 {
			t.Errorf("cut %d times, left %d times", o.cut.Load(), o.left.Load())
		}
	})
}

func TestSlowHeadBeforeOthers(t *testing.T) {
	got, o := pieces(t, fault.Chain(&fault.Latency{Fixed: time.Second}, &fault.SlowHead{Bytes: 1000}, &fault.Drip{Bytes: 1, Every: time.Second}, &fault.Truncate{Bytes: new(2)}), sized("0123456789"), getText)
	text := strings.Join(got, "|")
	if !strings.HasPrefix(text, "1s HTTP/1.1 200 OK~") || !strings.Contains(text, "~Content-Length: 10~") || !strings.HasSuffix(text, "~~0|2s 1") || o.cut.Load() != 1 {
		t.Errorf("%s, cut %d times", text, o.cut.Load())
	}
}

// TestSlowHeadOnHTTP2 comes late: no part of a head can be sent.
func TestSlowHeadOnHTTP2(t *testing.T) {
	s, o := h2(t, &fault.SlowHead{Bytes: 20, Every: 20 * time.Millisecond}, sized("0123456789"))
	start := time.Now()
	if got := describe(s.Client().Get(s.URL)); got != `200 "0123456789"` || time.Since(start) < 20*time.Millisecond || o.cut.Load() != 0 {
		t.Errorf("%s after %v", got, time.Since(start))
	}
}
