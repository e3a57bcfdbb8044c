package faultserver_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/memnet"
)

// faultFunc is a fault for one test.
type faultFunc func(w http.ResponseWriter, r *http.Request, next http.Handler)

func (f faultFunc) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) { f(w, r, next) }

// status answers with a status alone.
func status(code int) fault.Spec {
	return fault.Of("status", faultFunc(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(code) }))
}

// world is a server and a client on a network of their own.
type world struct {
	*faultserver.Server
	network memnet.Network
	client  *http.Client
	dialled []net.Conn // by the client that speaks
	once    bool       // bodies cannot be sent again, so that Go's client repeats nothing by itself
	ca      *devca.CA  // nil: it speaks plain HTTP
}

// virtual runs a test in virtual time.
func virtual(t *testing.T, test func(t *testing.T, w *world), options ...faultserver.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		for i, o := range options {
			if o == nil { // withTLS: the authority must be of this time
				w.ca = mustCA(t)
				options[i] = faultserver.WithTLS(w.ca)
			}
		}
		w.Server = faultserver.New(options...)
		defer time.Sleep(time.Second) // net/http lets some connections linger for half a second
		defer w.Close()
		w.listen(t, "api.test:80", "")
		transport := &http.Transport{DialContext: w.network.DialContext}
		if w.ca != nil {
			transport.TLSClientConfig = &tls.Config{RootCAs: w.ca.Only(), ServerName: "localhost"}
		}
		defer transport.CloseIdleConnections()
		w.client = &http.Client{Transport: transport}
		test(t, w)
	})
}

// withTLS stands for a server that speaks TLS, under an authority of its own.
var withTLS faultserver.Option

func secured(t *testing.T, test func(t *testing.T, w *world), options ...faultserver.Option) {
	t.Helper()
	virtual(t, test, append(options, withTLS)...)
}

func mustCA(t *testing.T) *devca.CA {
	t.Helper()
	ca, err := devca.New()
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// listen serves another address.
func (w *world) listen(t *testing.T, addr, client string) {
	t.Helper()
	l, err := w.network.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	go w.Serve(l, client)
}

// use puts rules to use.
func (w *world) use(t *testing.T, rules ...faultserver.Rule) {
	t.Helper()
	if err := w.Use(faultserver.Plan{Rules: rules}); err != nil {
		t.Fatal(err)
	}
}

// do sends a request, "GET /path" or "POST http://host/path", with headers, and returns the status (0: no answer).
func (w *world) do(t *testing.T, request string, headers ...string) int {
	t.Helper()
	code, _ := w.ask(t, request, "", headers...)
	return code
}

// ask is do with a body, and returns the answer's body too.
func (w *world) ask(t *testing.T, request, body string, headers ...string) (int, string) {
	t.Helper()
	method, at, _ := strings.Cut(request, " ")
	if strings.HasPrefix(at, "/") {
		at = "http://api.test" + at
		if w.ca != nil {
			at = "https://api.test:80" + strings.TrimPrefix(at, "http://api.test")
		}
	}
	r, err := http.NewRequest(method, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if w.once {
		r.GetBody = nil
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := w.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return answer.StatusCode, string(got) + "!" + err.Error()
	}
	return answer.StatusCode, string(got)
}

// used returns the journal's entries but those of connections without a request. Go's client leaves such: it takes a
// connection of HTTP/2 into its pool only after it gave it to the request that wanted it, and a next request that is faster
// dials once more.
func (w *world) used() []journal.Entry { return used(w.Journal().Entries()) }

func used(entries []journal.Entry) []journal.Entry {
	return slices.DeleteFunc(entries, journal.Entry.Unused)
}

// last returns the journal's latest entry.
func (w *world) last(t *testing.T) journal.Entry {
	t.Helper()
	entries := w.used()
	if len(entries) == 0 {
		t.Fatal("the journal is empty")
	}
	return entries[len(entries)-1]
}
