package faultserver_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

// What net/http answers by itself, and what never becomes a request, is in the journal all the same.
func TestUnservedRequests(t *testing.T) {
	huge := "Host: x\r\nCookie: " + strings.Repeat("a", 70_000) + "\r\n\r\n"
	for name, c := range map[string]struct{ raw, want string }{
		"head too large":     {"GET /a?q=1 HTTP/1.1\r\n" + huge, "GET /a?q=1 431 refused"},
		"bad path":           {"GET /a%zz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a%zz 400 refused"},
		"no host":            {"POST /a HTTP/1.1\r\n\r\n", "POST /a 400 refused"},
		"version":            {"GET /a HTTP/3.7\r\nHost: x\r\n\r\n", "GET /a 505 refused"},
		"expectation":        {"POST /a HTTP/1.1\r\nHost: x\r\nExpect: yes\r\nContent-Length: 0\r\n\r\n", "POST /a 417 refused"},
		"coding":             {"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: rot13\r\n\r\n", "POST /a 501 refused"},
		"garbage":            {"\x16\x03\x01 hello there\r\n\r\n", "  400 refused"},
		"half a head":        {"GET /a HTTP/1.1\r\nHost", "GET /a 0 refused cut left"},
		"half a line":        {"GET /abc", "  0 refused cut left"},
		"nothing":            {"", "  0 unused"},
		"line ends":          {"\r\n", "  0 unused"},
		"HTTP/2 not used":    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", "  0 unused"},
		"served":             {"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET /a 200"},
		"served, then empty": {"GET /a HTTP/1.0\r\nHost: x\r\n\r\n\r\n", "GET /a 200"},
		"refused on a reused connection": {
			"GET /a HTTP/1.1\r\nHost: x\r\n\r\n|GET /b%zz HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a 200; GET /b%zz 400 refused"},
		"broken off on a reused connection": {
			"GET /a HTTP/1.1\r\nHost: x\r\n\r\n|GET /b HTTP/1.1\r\n", "GET /a 200; GET /b 0 refused cut left"},
		"reused": {
			"GET /a HTTP/1.1\r\nHost: x\r\n\r\n|GET /b HTTP/1.0\r\n\r\n", "GET /a 200; GET /b 200"},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, func(t *testing.T, w *world) {
				conn, err := w.network.DialContext(t.Context(), "tcp", "api.test:80")
				if err != nil {
					t.Fatal(err)
				}
				for part := range strings.SplitSeq(c.raw, "|") {
					go io.WriteString(conn, part)
					go drop(conn)
					time.Sleep(time.Second)
				}
				conn.Close()
				synctest.Wait()
				if got := w.unserved(); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		})
	}
}

func drop(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// unserved writes the journal down in words.
func (w *world) unserved() string {
	var all []string
	for _, e := range w.Journal().Entries() {
		text := strings.TrimSuffix(fmt.Sprintf("%s %s?%s", e.Method, e.Path, e.Query), "?") + fmt.Sprint(" ", e.Status)
		for word, on := range map[string]bool{"refused": e.Refused(), "unused": e.Unused()} {
			if on {
				text += " " + word
			}
		}
		if e.Cut {
			text += " cut"
		}
		if e.Gone > 0 {
			text += " left"
		}
		if e.Fault != "" {
			text += " " + e.Fault
		}
		if e.Client == "" || e.Conn == 0 || e.Open || (e.Rule != "") != (e.Fault != "") {
			text += fmt.Sprintf(" %+v", e)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// A server that closes leaves no trace of the connections that it closes.
func TestCloseJournalsNothing(t *testing.T) {
	for _, f := range []fault.Spec{fault.Pass(), fault.Of("early-reset", &fault.EarlyReset{})} {
		virtual(t, func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Name: "r", Fault: f})
			defer w.connect(t).Close()
			time.Sleep(time.Second)
			w.Close()
			synctest.Wait()
			if got := w.unserved(); got != "" {
				t.Error(f.Name(), got)
			}
		})
	}
}

func (w *world) connect(t *testing.T) net.Conn {
	t.Helper()
	conn, err := w.network.DialContext(t.Context(), "tcp", "api.test:80")
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// What a fault does to a connection that it took under an earlier plan is no part of the run of the next.
func TestTakenConnectionsBelongToTheirPlan(t *testing.T) {
	virtual(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "r", Fault: fault.Of("early-reset", &fault.EarlyReset{})})
		conn := w.connect(t)
		defer conn.Close()
		synctest.Wait() // it is accepted
		w.use(t)
		_, _ = io.WriteString(conn, "G")
		synctest.Wait()
		if got := w.unserved(); got != "" {
			t.Error(got)
		}
	})
}

// What comes while the request before is answered is read to its beginning; a head that this side cuts off is not held
// against the client.
func TestUnservedRequestsBehindOthers(t *testing.T) {
	for want, f := range map[string]fault.Spec{
		"GET /a 200 latency; GET /b%zz 400 refused":   fault.Of("latency", &fault.Latency{Fixed: time.Second}),
		"GET /a 200 idle-close; GET /b 0 refused cut": fault.Of("idle-close", &fault.IdleClose{After: time.Second}),
	} {
		virtual(t, func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Name: "r", When: schedule.Of(schedule.First(1)), Fault: f})
			conn := w.connect(t)
			defer conn.Close()
			go drop(conn)
			parts := []string{"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /b%zz HTTP/1.1\r\n", "Host: x\r\n\r\n"}
			if f.Name() == "idle-close" {
				parts = []string{parts[0], "GET /b HTTP/1.1\r\n"} // the head is not complete
			}
			for _, part := range parts {
				_, _ = io.WriteString(conn, part)
				time.Sleep(500 * ms)
			}
			time.Sleep(5 * time.Second)
			if got := w.unserved(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// A connection that early-reset waits for, and over which nothing comes, is unused like any other; what a fault ended is
// neither refused by net/http nor unused.
func TestConnectionsThatFaultsTake(t *testing.T) {
	for raw, want := range map[string]string{"": "  0 unused", "G": "  0 cut early-reset"} {
		virtual(t, func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Name: "r", Fault: fault.Of("early-reset", &fault.EarlyReset{})})
			conn, err := w.network.DialContext(t.Context(), "tcp", "api.test:80")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(conn, raw)
			time.Sleep(time.Second)
			conn.Close()
			synctest.Wait()
			if got := w.unserved(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}
