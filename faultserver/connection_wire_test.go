package faultserver_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// breaking starts a server on loopback whose connections meet a fault.
func breaking(t *testing.T, text string, options ...faultserver.Option) (s *faultserver.Server, url string, plan faultserver.Plan) {
	t.Helper()
	var f fault.Spec
	if err := strict.Decode("fault", []byte(text), &f); err != nil {
		t.Fatal(err)
	}
	s = faultserver.New(options...)
	t.Cleanup(func() { _ = s.Close() })
	plan.Rules = []faultserver.Rule{{Name: "r", Fault: f}}
	url, err := s.Listen("127.0.0.1:0", "app")
	if err = errors.Join(err, s.Use(plan)); err != nil {
		t.Fatal(err)
	}
	return s, url, plan
}

// settled waits until all entries are closed, and writes them down.
func settled(s *faultserver.Server) string {
	for {
		changed := s.Journal().Changed()
		if s.Journal().Pending() == 0 {
			return wireText(s.Journal().Entries())
		}
		<-changed
	}
}

// oneOf reports whether a text says one of several things: a client may meet a reset wherever it looks first.
func oneOf(things, text string) bool {
	return slices.ContainsFunc(strings.Split(things, "|"), func(s string) bool { return strings.Contains(text, s) })
}

// overBoth runs a test in the clear and over TLS.
func overBoth(t *testing.T, name string, test func(t *testing.T, options ...faultserver.Option)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t)
	})
	t.Run(name+" over TLS", func(t *testing.T) {
		t.Parallel()
		test(t, faultserver.WithTLS(authority()))
	})
}

// dialURL connects to a server. The TLS handshake comes with the first write.
func dialURL(url string) (net.Conn, error) {
	scheme, addr, _ := strings.Cut(url, "://")
	conn, err := net.Dial("tcp", addr)
	if err == nil && scheme == "https" {
		return tls.Client(conn, &tls.Config{RootCAs: authority().Only(), ServerName: "localhost"}), nil
	}
	return conn, err
}

// One client on one connection, as long as it lasts, sends a GET, reads the answer, and waits for the end or sends another.
func TestConnectionsEnd(t *testing.T) {
	const get = "GET / HTTP/1.1\r\nHost: t\r\n\r\n"
	for name, c := range map[string]struct {
		fault   string
		answers int           // that come before the end
		end     error         // nil: in good order
		idle    time.Duration // how long nothing comes before, at least
		waits   bool          // the client sends nothing after the answers
		want    string        // in the journal
	}{
		"refused":             {"refused", 0, syscall.ECONNRESET, 0, true, "- refused"},
		"early-reset":         {"early-reset", 0, syscall.ECONNRESET, 0, false, "- early-reset"},
		"reset-after":         {"{reset-after: {requests: 2}}", 2, syscall.ECONNRESET, 0, false, "GET 200; GET 200; GET reset-after"},
		"reset-after at once": {"{reset-after: {requests: 2, at-once: true}}", 2, syscall.ECONNRESET, 10 * time.Millisecond, true, "GET 200; GET 200 reset-after"},
		"idle-close":          {"{idle-close: {after: 60ms}}", 1, nil, 60 * time.Millisecond, true, "GET 200 idle-close"},
	} {
		overBoth(t, name, func(t *testing.T, options ...faultserver.Option) {
			s, url, _ := breaking(t, c.fault, options...)
			conn, err := dialURL(url)
			if errors.Is(err, syscall.ECONNRESET) && name == "refused" {
				return // so early that it came with the handshake's end
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			in := bufio.NewReader(conn)
			asked := time.Now() // before the last answer, which may be read long after it was sent
			for range c.answers {
				asked = time.Now()
				_, _ = io.WriteString(conn, get)
				answer, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, answer.Body)
			}
			if !c.waits {
				_, _ = io.WriteString(conn, get)
			}
			rest, err := io.ReadAll(in)
			if took := time.Since(asked); len(rest) > 0 || !errors.Is(err, c.end) || took < c.idle {
				t.Errorf("read %q and then %v after %v; want %v", rest, err, took, c.end)
			}
			if got := settled(s); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A request that crosses the end of an idle connection is never answered, and the journal knows of it.
func TestIdleCloseWinsTheRace(t *testing.T) {
	s, url, _ := breaking(t, "{idle-close: {after: 20ms}}")
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const get = "GET / HTTP/1.1\r\nHost: t\r\n\r\n"
	_, _ = io.WriteString(conn, get)
	if all, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 200") {
		t.Fatalf("%q, %v", all, err)
	}
	_, _ = io.WriteString(conn, get) // sent before the end was seen, as far as the server knows
	for s.Journal().Len() < 2 {
		<-s.Journal().Changed()
	}
	if got := settled(s); got != "GET 200 idle-close; GET idle-close" {
		t.Error(got)
	}
}

// goOnConnections says what Go's client sees of each kind that acts on connections, on a connection that is used again and
// then once more: "" stands for an answer.
var goOnConnections = map[string]struct{ fault, used, then, want string }{
	"refused":     {"refused", "reset by peer|broken pipe", "reset by peer|broken pipe", "POST 200; POST refused; - refused"},
	"early-reset": {"early-reset", "reset by peer|broken pipe", "reset by peer|broken pipe", "POST 200; POST early-reset; - early-reset"},
	"silent":      {"silent", "Client.Timeout exceeded", "Client.Timeout exceeded", "POST 200; POST silent left; - silent left"},
	"reset-after": {"reset-after", "", "reset by peer|broken pipe", "POST 200; POST 200; POST reset-after"},
	"idle-close":  {"{idle-close: {after: 5m}}", "", "", "POST 200; POST 200 idle-close; POST 200 idle-close"},
	"certificate": {"{certificate: {problem: expired}}", "", "certificate has expired", "POST 200; POST 200; - certificate left"},
	"handshake":   {"{handshake: {by: alert}}", "", "handshake failure", "POST 200; POST 200; - handshake"},
}

// Go's client names the end of the connection, on used and on fresh ones.
func TestConnectionFaultsForGo(t *testing.T) {
	for name, c := range goOnConnections {
		inHandshake := isInHandshake(t, name)
		overBoth(t, name, func(t *testing.T, options ...faultserver.Option) {
			if inHandshake && len(options) == 0 {
				return
			}
			s, url, plan := breaking(t, c.fault, options...)
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority().Only()}, TLSHandshakeTimeout: time.Second}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport, Timeout: 10 * time.Second}
			ask := func() error {
				answer, err := client.Post(url, "", strings.NewReader("x"))
				if err == nil {
					_, err = io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
				}
				return err
			}
			if err := errors.Join(s.Use(faultserver.Plan{}), ask(), s.Use(plan)); err != nil {
				t.Fatal(err)
			}
			if name == "silent" {
				client.Timeout = 300 * time.Millisecond
			}
			for _, want := range []string{c.used, c.then} {
				if err := ask(); (err == nil) != (want == "") || err != nil && !oneOf(want, err.Error()) {
					t.Errorf("%v, want %s", err, want)
				}
				if inHandshake {
					transport.CloseIdleConnections() // it has its handshake behind it, and so was left alone
				}
			}
			if got := wireText(journalled(s, 1+strings.Count(c.want, ";"))); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// curlOnConnections says what curl sees of each kind that acts on connections, some of them on used ones, where curl sends
// again by itself.
var curlOnConnections = map[string][]struct {
	fault, args string // URL stands for the server
	says, want  string
}{
	"refused":     {{"refused", "URL", "(56) |(55) |(7) ", "- refused"}},
	"early-reset": {{"early-reset", "URL", "(56) |(55) ", "- early-reset"}},
	"silent":      {{"silent", "-m 0.3 URL", "(28) ", "- silent left"}},
	"reset-after": {
		{"{reset-after: {requests: 1}}", "URL URL", "", "GET 200; GET reset-after; GET 200"},
		{"{reset-after: {requests: 1}}", "-d x URL URL", "", "POST 200; POST reset-after; POST 200"},
	},
	"idle-close":  {{"{idle-close: {after: 50ms}}", "--rate 60/m URL URL", "", "GET 200 idle-close; GET 200 idle-close"}},
	"certificate": {{"certificate", "URL", "(60) ", "- certificate left"}},
	"handshake":   {{"handshake", "URL", "(35) ", "- handshake"}, {"{handshake: {by: alert}}", "URL", "(35) ", "- handshake"}},
}

func isInHandshake(t *testing.T, kind string) bool {
	t.Helper()
	k, err := fault.Kinds.Get(kind)
	if err != nil {
		t.Fatal(err)
	}
	return fault.Of(kind, k.New()).InHandshake()
}

func TestConnectionFaultsForCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	for name, rows := range curlOnConnections {
		for _, c := range rows {
			overBoth(t, name+" "+c.args, func(t *testing.T, options ...faultserver.Option) {
				if isInHandshake(t, name) && len(options) == 0 {
					return
				}
				s, url, _ := breaking(t, c.fault, options...)
				printed, _ := exec.CommandContext(t.Context(), curl,
					strings.Fields("-sS --no-progress-meter --http1.1 --cacert "+authorityFile()+" "+strings.ReplaceAll(c.args, "URL", url))...).CombinedOutput()
				says := c.says
				if len(options) > 0 && strings.Contains(says, "(56)") {
					says += "|(35) " // in the handshake
				}
				if !oneOf(says, string(printed)) {
					t.Errorf("curl says %s", printed)
				}
				if got := wireText(journalled(s, 1+strings.Count(c.want, ";"))); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		}
	}
}

// Disconnect ends connections that a fault holds, too.
func TestDisconnectEndsSilence(t *testing.T) {
	s, url, _ := breaking(t, "silent")
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for s.Journal().Len() < 1 {
		<-s.Journal().Changed()
	}
	if err := s.Disconnect("app"); err != nil {
		t.Error(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("still open: %v", err)
	}
	if got := settled(s); got != "- silent" {
		t.Error(got)
	}
}
