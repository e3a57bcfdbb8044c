package faultserver_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// proof is what clients see of a fault on a real socket, and what the journal says of it. A view is a list of texts, with
// | between them, that all stand in what a client tells, whatever their case.
type proof struct {
	fault  string // as a plan writes it
	upload int    // bytes that a POST sends; 0: a GET
	after  int    // requests of the same client before, which the fault leaves alone

	http1, http2 string // seen by Go's client
	curl1, curl2 string // seen by curl: its exit code, output with headers, and messages; "": not looked at

	patience    time.Duration // how long clients wait; default 10 s
	least, most time.Duration // that the client waits for; most 0: not looked at

	status, upstream int
	cut, gone        bool // the answer was cut, the client left
	once             bool // Go's client cannot send the body again, which it would do by itself
	early            bool // what was read of the upload is a matter of chance
}

// full reports whether both clients looked, over both versions.
func (p proof) full() bool { return p.http1 != "" && p.http2 != "" && p.curl1 != "" && p.curl2 != "" }

// proofs has at least one for each kind of fault. Files add their own.
var proofs = map[string][]proof{}

func prove(kind string, rows ...proof) { proofs[kind] = append(proofs[kind], rows...) }

// Of every kind, clients that nobody here wrote see what it promises: on connections that are fresh, and on used ones.
func TestEveryKindOnTheWire(t *testing.T) {
	for _, kind := range fault.Kinds.All() {
		if fault.Of(kind.Name, kind.New()).OnConnections() { // they meet no path, and have tests of their own
			if goOnConnections[kind.Name].want == "" || len(curlOnConnections[kind.Name]) == 0 {
				t.Errorf("nothing proves what %s does on the wire; add it to goOnConnections and curlOnConnections", kind.Name)
			}
			continue
		}
		if !slices.ContainsFunc(proofs[kind.Name], proof.full) {
			t.Errorf("nothing proves what %s does on the wire; add a row with all four views with prove(%q, ...)", kind.Name, kind.Name)
		}
		for _, p := range proofs[kind.Name] {
			for _, v := range views {
				want := v.want(p)
				if want == "" {
					continue
				}
				for _, used := range []bool{false, true} {
					name := fmt.Sprintf("%s/%s/%s used=%v", kind.Name, p.fault, v.name, used)
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						p.hold(t, kind.Name, v, want, used)
					})
				}
			}
		}
	}
}

// view is one way to look at a fault: who asks, and over what.
type view struct {
	name    string
	version string
	secure  bool // over TLS
	ask     func(*testing.T, *socket, proof, bool) string
	want    func(proof) string
}

var views = []view{
	{"Go HTTP/1.1", "HTTP/1.1", false, askGo, func(p proof) string { return p.http1 }},
	{"Go HTTP/2.0", "HTTP/2.0", false, askGo, func(p proof) string { return p.http2 }},
	{"curl HTTP/1.1", "HTTP/1.1", false, askCurl, func(p proof) string { return p.curl1 }},
	{"curl HTTP/2.0", "HTTP/2.0", false, askCurl, func(p proof) string { return p.curl2 }},
	{"Go HTTP/1.1 over TLS", "HTTP/1.1", true, askGo, func(p proof) string { return p.http1 }},
	{"Go HTTP/2.0 over TLS", "HTTP/2.0", true, askGo, func(p proof) string { return p.http2 }},
	{"curl HTTP/1.1 over TLS", "HTTP/1.1", true, askCurl, firstOf(func(p proof) string { return p.curl1 })},
	{"curl HTTP/2.0 over TLS", "HTTP/2.0", true, askCurl, firstOf(func(p proof) string { return p.curl2 })},
}

// firstOf wants the first proof of each kind looked at that is full, and no other: each look costs a process that reads all of
// OpenSSL's configuration.
func firstOf(want func(proof) string) func(proof) string {
	return func(p proof) string {
		for _, rows := range proofs {
			if i := slices.IndexFunc(rows, proof.full); i >= 0 && rows[i] == p {
				return want(p)
			}
		}
		return ""
	}
}

// hold puts one client to the fault.
func (p proof) hold(t *testing.T, kind string, v view, want string, used bool) {
	if p.patience == 0 {
		p.patience = 10 * time.Second
	}
	w := listenWith(t, p.fault, v)
	seen := v.ask(t, w, p, used)
	for text := range strings.SplitSeq(want, "|") {
		if !strings.Contains(strings.ToLower(seen), strings.ToLower(text)) {
			t.Errorf("the client sees %s\nwithout %s", seen, text)
		}
	}
	if w.took < p.least || p.most > 0 && w.took > p.most {
		t.Errorf("the client waited %v, want %v to %v", w.took, p.least, p.most)
	}
	before := p.after
	if used {
		before++
	}
	entries := w.entries(t, before+1)
	e, rule := entries[before], "it"
	if streamed, err := fault.Kinds.Get(kind); err == nil && v.version == "HTTP/1.1" && fault.Of(kind, streamed.New()).OnStreams() {
		rule, kind, p = "", "", proof{status: http.StatusOK} // it is left alone
	}
	if used && e.Conn != entries[0].Conn {
		t.Errorf("the connection was not used before: %+v", entries)
	}
	if e.Proto != v.version || e.TLS != v.secure || e.Rule != rule || e.Fault != kind || e.Status != p.status || e.Cut != p.cut || e.Upstream != p.upstream ||
		!e.BodyWhole && !p.early || e.Gone > 0 != p.gone || e.Open {
		t.Errorf("the journal says %+v\nand the client sees %s", e, seen)
	}
}

// socket is a server on a real socket, with a fault for /bad.
type socket struct {
	server *faultserver.Server
	url    string
	view
	took time.Duration
}

func listenWith(t *testing.T, text string, v view) *socket {
	t.Helper()
	var f fault.Spec
	if err := strict.Decode("fault", []byte(text), &f); err != nil {
		t.Fatal(err)
	}
	options := []faultserver.Option{faultserver.WithErrorLog(nil), faultserver.WithSeed(1)}
	if v.secure {
		options = append(options, faultserver.WithTLS(authority()))
	}
	w := &socket{server: faultserver.New(options...), view: v}
	t.Cleanup(func() { _ = w.server.Close() })
	rules := []faultserver.Rule{{Name: "it", Match: faultserver.Match{PathPrefix: "/bad"}, Fault: f}}
	if err := w.server.Use(faultserver.Plan{Rules: rules}); err != nil {
		t.Fatal(err)
	}
	var err error
	if w.url, err = w.server.Listen("127.0.0.1:0", "app"); err != nil {
		t.Fatal(err)
	}
	return w
}

// entries waits until n exchanges have ended, and returns all but connections without a request.
func (w *socket) entries(t *testing.T, n int) []journal.Entry {
	t.Helper()
	for late := time.After(10 * time.Second); ; {
		changed := w.server.Journal().Changed()
		entries := used(w.server.Journal().Entries())
		open := func(e journal.Entry) bool { return e.Open }
		if len(entries) >= n && !slices.ContainsFunc(entries, open) {
			return entries
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("of %d exchanges the journal has %+v", n, entries)
		}
	}
}

// askGo asks with Go's client, which follows no redirects here.
func askGo(t *testing.T, w *socket, p proof, used bool) string {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(w.version == "HTTP/1.1")
	transport.Protocols.SetUnencryptedHTTP2(w.version == "HTTP/2.0" && !w.secure)
	transport.Protocols.SetHTTP2(w.version == "HTTP/2.0" && w.secure)
	transport.TLSClientConfig = &tls.Config{RootCAs: authority().Only()}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if used {
		if got := goSees(t, client, w.url+"/good", proof{patience: p.patience}); !strings.HasPrefix(got, "200 ") {
			t.Fatal(got)
		}
	}
	for range p.after {
		goSees(t, client, w.url+"/bad", p)
	}
	began := time.Now()
	defer func() { w.took = time.Since(began) }()
	return goSees(t, client, w.url+"/bad", p)
}

// goSees asks once and tells everything about the answer.
func goSees(t *testing.T, client *http.Client, url string, p proof) string {
	ctx, cancel := context.WithTimeout(t.Context(), p.patience)
	defer cancel()
	var mu sync.Mutex
	var interim strings.Builder
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&interim, "interim %d ", code)
		return nil
	}})
	method, body := http.MethodGet, io.Reader(nil)
	if p.upload > 0 {
		method, body = http.MethodPost, bytes.NewReader(make([]byte, p.upload))
	}
	r, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if p.once {
		r.GetBody = nil
	}
	answer, err := client.Do(r)
	mu.Lock()
	defer mu.Unlock()
	if err != nil {
		return fmt.Sprintf("%serror %v", interim.String(), err)
	}
	defer answer.Body.Close()
	var head strings.Builder
	for name, values := range answer.Header {
		if len(head.String()) < 2000 {
			fmt.Fprintf(&head, "%s: %s\n", name, clipped([]byte(strings.Join(values, ", "))))
		}
	}
	got, err := io.ReadAll(answer.Body)
	return fmt.Sprintf("%s%d %s (%d headers, %d bytes) then %v\n%s", interim.String(), answer.StatusCode, clipped(got), len(answer.Header), len(got), err, head.String())
}

// clipped is the beginning of a text.
func clipped(text []byte) string {
	if len(text) > 300 {
		return fmt.Sprintf("%q...", text[:300])
	}
	return fmt.Sprintf("%q", text)
}

// askCurl asks with curl; requests before and the one that counts go over one connection.
func askCurl(t *testing.T, w *socket, p proof, used bool) string {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	quiet := []string{"--silent", "--show-error", "--include", "--max-time", fmt.Sprint(p.patience.Seconds())}
	var args []string
	if w.version == "HTTP/2.0" {
		if features, _ := exec.Command(curl, "--version").Output(); !bytes.Contains(features, []byte("HTTP2")) {
			t.Skip("this curl speaks no HTTP/2")
		}
		if !w.secure {
			args = append(args, "--http2-prior-knowledge") // said again, it would keep curl 7.88 from using the connection again
		}
	} else {
		quiet = append(quiet, "--http1.1")
	}
	if w.secure {
		quiet = append(quiet, "--cacert", authorityFile())
	}
	bad := slices.Concat(quiet, []string{w.url + "/bad"})
	if p.upload > 0 {
		bad = append(bad, "--data-binary", "@-", "--header", "Expect:", "--header", "Content-Type: application/octet-stream")
	}
	if used {
		args = slices.Concat(args, quiet, []string{"--max-time", "10", "--output", "/dev/null", w.url + "/good", "--next"})
	}
	for range p.after {
		args = slices.Concat(args, bad, []string{"--output", "/dev/null", "--next"})
	}
	command := exec.Command(curl, slices.Concat(args, bad)...)
	command.Stdin = bytes.NewReader(make([]byte, p.upload))
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	began := time.Now()
	err = command.Run()
	w.took = time.Since(began)
	code := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(stdout.String(), "\r\n\r\n")
	return fmt.Sprintf("exit %d %s\n%s\n(%d bytes) %s", code, stderr.String(), clipped([]byte(head)), len(body), clipped([]byte(body)))
}
