package faultserver_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// Every fault that ships acts once for each request, on both versions of HTTP, on reused connections too, before a stub
// and before an upstream, and leaves a closed entry that names it. Then the server is as good as new. Those that act on
// connections show what meetsOnConnections says.
func TestEveryFaultKind(t *testing.T) {
	fromUpstream := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "from upstream") }
	backends := map[string]func(*testing.T, func(*testing.T, *world)){
		"stub":              func(t *testing.T, test func(*testing.T, *world)) { virtual(t, test) },
		"stub over TLS":     func(t *testing.T, test func(*testing.T, *world)) { secured(t, test) },
		"upstream":          func(t *testing.T, test func(*testing.T, *world)) { proxied(t, fromUpstream, test) },
		"upstream over TLS": func(t *testing.T, test func(*testing.T, *world)) { proxied(t, fromUpstream, test, withTLS) },
	}
	for _, kind := range fault.Kinds.All() {
		for _, version := range []string{"HTTP/1.1", "HTTP/2.0"} {
			for backend, run := range backends {
				t.Run(kind.Name+" "+version+" "+backend, func(t *testing.T) {
					var f fault.Spec
					if err := strict.Decode("example", []byte(kind.Example), &f); err != nil {
						t.Fatal(err)
					}
					if f.InHandshake() && !strings.HasSuffix(backend, "TLS") {
						run(t, func(t *testing.T, w *world) { refusesInTheClear(t, w, f) })
						return
					}
					if f.OnConnections() {
						run(t, func(t *testing.T, w *world) { meetsOnConnections(t, w, f, version) })
						return
					}
					if f.OnStreams() && version == "HTTP/1.1" {
						run(t, leavesAlone(f))
						return
					}
					run(t, func(t *testing.T, w *world) { actsOnEach(t, w, f, kind.Spares, version) })
				})
			}
		}
	}
}

// leavesAlone says that requests without a stream are no business of a fault that acts on streams.
func leavesAlone(f fault.Spec) func(*testing.T, *world) {
	return func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "r", Fault: f})
		for range 3 {
			if got := w.do(t, "POST /"); got != http.StatusOK {
				t.Error(got)
			}
			if e := w.last(t); e.Rule != "" || e.Fault != "" || e.Status != http.StatusOK || w.Fired()["r"] != 0 {
				t.Errorf("%+v", e)
			}
		}
	}
}

func actsOnEach(t *testing.T, w *world, f fault.Spec, spares int, version string) {
	defer w.speak(version)()
	w.once = f.OnStreams()

	healthy := w.do(t, "POST /")
	w.use(t, faultserver.Rule{Name: "r", Fault: f})
	for range spares {
		w.ask(t, "POST /", "hello")
	}
	const n = 3
	for range n {
		w.ask(t, "POST /", "hello")
		synctest.Wait()
		if e := w.last(t); e.Open || e.Rule != "r" || e.Fault != f.Name() || e.Proto != version || e.TLS != (w.ca != nil) || e.BodyLen != 5 && !f.Early() {
			t.Errorf("%+v", e)
		}
	}
	if fired := w.Fired()["r"]; fired != n || len(w.used()) != 1+spares+n || w.Journal().Pending() != 0 {
		t.Errorf("fired %d times, %d entries, %d open", fired, len(w.used()), w.Journal().Pending())
	}
	w.use(t)
	if after := w.do(t, "POST /"); healthy != 200 || after != 200 {
		t.Errorf("%d before, %d after", healthy, after)
	}
}

// refusesInTheClear holds that a fault of handshakes is no plan for a server without them.
func refusesInTheClear(t *testing.T, w *world, f fault.Spec) {
	err := w.Use(faultserver.Plan{Rules: []faultserver.Rule{{Name: "r", Fault: f}}})
	if err == nil || !strings.Contains(err.Error(), "rule r: "+f.Name()+" acts in TLS handshakes, and this server speaks plain HTTP; let it speak TLS") {
		t.Error(err)
	}
}

// speak gives the world a client for one version of HTTP, until it is told to stop.
func (w *world) speak(version string) (stop func()) {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(version == "HTTP/1.1")
	protocols.SetUnencryptedHTTP2(version == "HTTP/2.0" && w.ca == nil)
	protocols.SetHTTP2(version == "HTTP/2.0" && w.ca != nil)
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := w.network.DialContext(ctx, network, addr)
		if err == nil {
			w.dialled = append(w.dialled, conn)
		}
		return conn, err
	}
	transport := &http.Transport{DialContext: dial, Protocols: protocols}
	if w.ca != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: w.ca.Only(), ServerName: "localhost"}
	}
	w.client = &http.Client{Transport: transport, Timeout: time.Hour, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return transport.CloseIdleConnections
}

// leave closes all connections of the client that speaks.
func (w *world) leave() {
	synctest.Wait()
	for _, conn := range w.dialled {
		_ = conn.Close()
	}
	w.dialled = nil
}
