package faultserver_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// authority is the one that clients of tests in real time trust.
var authority = sync.OnceValue(func() *devca.CA {
	ca, err := devca.New()
	if err != nil {
		panic(err)
	}
	return ca
})

// authorityFile is where curl reads it from. TestMain removes it.
var authorityFile = sync.OnceValue(func() string {
	f, err := os.CreateTemp("", "retrygate-test-ca-*.pem")
	if err == nil {
		_, err = f.Write(authority().PEM())
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		panic(err)
	}
	return f.Name()
})

// certificates says what clients make of each problem: Go's, curl, and what the journal has of their attempts.
var certificates = map[devca.Problem]struct{ goSays, curlSays, goAlert, curlAlert string }{
	devca.Expired:    {"certificate has expired or is not yet valid", "certificate has expired", "alert: bad certificate", "alert: expired certificate"},
	devca.NotYet:     {"certificate has expired or is not yet valid", "certificate is not yet valid", "alert: bad certificate", "alert: bad certificate"},
	devca.WrongHost:  {"certificate is valid for 127.255.255.254, not 127.0.0.1", "does not match|no alternative certificate subject name matches", "alert: bad certificate", ""},
	devca.Untrusted:  {"certificate signed by unknown authority", "unable to get local issuer certificate", "alert: bad certificate", "alert: unknown certificate authority"},
	devca.SelfSigned: {"certificate signed by unknown authority", "self-signed certificate|self signed certificate", "alert: bad certificate", "alert: unknown certificate authority"},
	devca.None:       {},
}

// Clients that nobody here wrote turn each bad certificate down, in their own words; the journal has the attempt and why.
// Without a fault, it is the client that does not know the authority.
func TestCertificates(t *testing.T) {
	curl, curlErr := exec.LookPath("curl")
	for problem, c := range certificates {
		t.Run("certificate "+string(problem), func(t *testing.T) {
			t.Parallel()
			roots, known, want := authority().Only(), []string{"--cacert", authorityFile()}, "r"
			s, url, plan := breaking(t, "certificate", faultserver.WithTLS(authority()))
			plan.Rules[0].Fault = fault.Of("certificate", &fault.Certificate{Problem: fault.CertificateProblem(problem)})
			if problem == devca.None { // the client does not know the authority
				plan, roots, known, want = faultserver.Plan{}, x509.NewCertPool(), nil, ""
				c = certificates[devca.Untrusted]
			}
			if err := s.Use(plan); err != nil {
				t.Fatal(err)
			}
			check := func(who string, e journal.Entry, alert string) {
				if e.Handshake != alert || !e.Distrusted() || !e.Cut || e.Gone == 0 || e.Rule != want || !e.TLS || e.Method != "" || e.Client != "app" {
					t.Errorf("of %s, the journal has %+v, want %q", who, e, alert)
				}
			}
			transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
			if _, err := (&http.Client{Transport: transport}).Get(url); err == nil || !strings.Contains(err.Error(), c.goSays) {
				t.Errorf("Go says %v, want %s", err, c.goSays)
			}
			check("Go", journalled(s, 1)[0], c.goAlert)
			if curlErr != nil {
				return
			}
			printed, _ := exec.CommandContext(t.Context(), curl, append(known, "-sS", url)...).CombinedOutput()
			if !oneOf(c.curlSays, string(printed)) || !strings.Contains(string(printed), "(60)") {
				t.Errorf("curl says %s, want %s", printed, c.curlSays)
			}
			check("curl", journalled(s, 2)[1], c.curlAlert)
			if fired := s.Fired()["r"]; want != "" && fired != 2 {
				t.Errorf("fired %d times", fired)
			}
		})
	}
}

// journalled waits for n entries that are over.
func journalled(s *faultserver.Server, n int) []journal.Entry {
	for {
		changed := s.Journal().Changed()
		if s.Journal().Len() >= n && s.Journal().Pending() == 0 {
			return s.Journal().Entries()
		}
		<-changed
	}
}

// A client that overlooks what is wrong is answered, and the journal says so. One that comes with a session ticket is shown
// the certificate all the same.
func TestCertificateOverlooked(t *testing.T) {
	secured(t, func(t *testing.T, w *world) {
		transport := w.client.Transport.(*http.Transport)
		transport.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(8)
		transport.DisableKeepAlives = true
		if got := w.do(t, "GET /"); got != 200 {
			t.Fatal(got)
		}
		w.use(t, faultserver.Rule{Name: "r", Fault: fault.Of("certificate", &fault.Certificate{Problem: "expired"})})
		if code, text := w.ask(t, "GET /", ""); code != 0 || !strings.Contains(text, "expired") {
			t.Errorf("%d %s", code, text)
		}
		synctest.Wait() // the server learns of it after the client
		transport.TLSClientConfig.InsecureSkipVerify = true
		for range 2 {
			answer, err := w.client.Get("https://api.test:80/")
			if err != nil {
				t.Fatal(err)
			}
			if answer.Body.Close(); answer.StatusCode != 200 || answer.TLS.DidResume {
				t.Errorf("%d, without a certificate: %v", answer.StatusCode, answer.TLS.DidResume)
			}
		}
		synctest.Wait()
		if got := wireText(w.Journal().Entries()); got != "GET 200; - certificate left; GET 200 certificate; GET 200 certificate" {
			t.Error(got)
		}
	})
}

// A handshake that fails when the plan is another one already is not blamed on a fault of that plan's predecessor.
func TestHandshakesBelongToTheirPlan(t *testing.T) {
	secured(t, func(t *testing.T, w *world) {
		w.use(t, faultserver.Rule{Name: "r", Fault: fault.Of("certificate", &fault.Certificate{Problem: "expired"})})
		conn, err := w.network.DialContext(t.Context(), "tcp", "api.test:80")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		synctest.Wait() // it is accepted
		w.use(t)
		if err := tls.Client(conn, &tls.Config{RootCAs: w.ca.Only(), ServerName: "localhost"}).Handshake(); err == nil {
			t.Error("the certificate is accepted")
		}
		synctest.Wait()
		if got := wireText(w.Journal().Entries()); got != "- left" {
			t.Error(got)
		}
	})
}

// What goes wrong in a handshake without any fault is journalled with the reason.
func TestHandshakesThatFail(t *testing.T) {
	const hello = "\x16\x03\x01\x02\x00\x01"
	for name, c := range map[string]struct {
		raw  string
		wait time.Duration
		want string
	}{
		"nothing":           {"", time.Second, "  0 unused"},
		"nothing for long":  {"", time.Minute, "  0 unused"},
		"half a hello":      {hello, time.Second, "  0 refused cut left: the client left"},
		"half, for long":    {hello, time.Minute, "  0 refused cut: the client took too long"},
		"plain HTTP":        {"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", time.Second, "  400 refused: the client speaks plain HTTP"},
		"something else":    {"SSH-2.0-x\r\n", time.Second, "  0 refused cut: first record does not look like a TLS handshake"},
		"an alert at once":  {"\x15\x03\x01\x00\x02\x02\x30", time.Second, "  0 refused cut left: alert: unknown certificate authority"},
		"no more than that": {"\x15\x03\x01\x00\x02\x02", time.Second, "  0 refused cut left: the client left"},
	} {
		t.Run(name, func(t *testing.T) {
			secured(t, func(t *testing.T, w *world) {
				conn, err := w.network.DialContext(t.Context(), "tcp", "api.test:80")
				if err != nil {
					t.Fatal(err)
				}
				_, _ = io.WriteString(conn, c.raw)
				go drop(conn)
				time.Sleep(c.wait)
				conn.Close()
				synctest.Wait()
				got := w.unserved()
				for _, e := range w.Journal().Entries() {
					if e.Handshake != "" {
						got += ": " + e.Handshake
					}
					if !e.TLS {
						t.Errorf("%+v", e)
					}
				}
				if got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			})
		})
	}
}

// What was answered 400 can be read.
func TestPlainHTTPIsToldSo(t *testing.T) {
	secured(t, func(t *testing.T, w *world) {
		client := &http.Client{Transport: &http.Transport{DialContext: w.network.DialContext}}
		answer, err := client.Get("http://api.test:80/")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if text, err := io.ReadAll(answer.Body); answer.StatusCode != 400 || !strings.Contains(string(text), "write https://") || err != nil {
			t.Errorf("%d %s %v", answer.StatusCode, text, err)
		}
	})
}

// Clients are told apart by their certificates, and counted by them.
func TestClientCertificates(t *testing.T) {
	for wants, c := range map[faultserver.ClientCertificates]struct{ none, ours, others int }{
		faultserver.NoCertificates:      {200, 200, 200},
		faultserver.AskForCertificate:   {200, 200, 200},
		faultserver.RequireCertificate:  {0, 200, 200},
		faultserver.VerifiedCertificate: {0, 200, 0},
	} {
		secured(t, func(t *testing.T, w *world) {
			w.use(t, faultserver.Rule{Name: "r", Per: faultserver.PerClient, Steps: []fault.Spec{status(503), fault.Pass()}})
			other := mustCA(t)
			var names []string
			for _, from := range []struct {
				ca   *devca.CA
				name string
				want int
			}{{nil, "", c.none}, {w.ca, "billing", c.ours}, {w.ca, "billing", c.ours}, {other, "", c.others}} {
				var certs []tls.Certificate
				if from.ca != nil {
					cert, err := from.ca.ClientCertificate(from.name)
					if err != nil {
						t.Fatal(err)
					}
					certs = append(certs, *cert)
				}
				transport := &http.Transport{DialContext: w.network.DialContext, TLSClientConfig: &tls.Config{
					RootCAs: w.ca.Only(), ServerName: "localhost",
					GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
						return &append(certs, tls.Certificate{})[0], nil
					},
				}}
				w.client = &http.Client{Transport: transport}
				first, second := w.do(t, "GET /"), w.do(t, "GET /")
				transport.CloseIdleConnections()
				e := w.last(t)
				if wants != faultserver.NoCertificates && (second != from.want || first != 503 && from.want == 200) {
					t.Errorf("%d: %s got %d and %d, want 503 and %d", wants, from.name, first, second, from.want)
				}
				names = append(names, e.Client)
			}
			synctest.Wait()
			got := strings.Join(names, " ")
			switch {
			case wants == faultserver.NoCertificates:
				if strings.Contains(got, "cert:") {
					t.Error(got)
				}
			case !strings.HasPrefix(names[1], "cert:billing-") || names[1] == names[2] || c.others > 0 && !strings.HasPrefix(names[3], "cert:"),
				strings.HasPrefix(names[0], "cert:"):
				t.Errorf("%d: %s", wants, got)
			}
		}, faultserver.WithClientCertificates(wants))
	}
}

// An upstream is told that the client came over TLS, unless the client says something else about that.
func TestUpstreamsAreToldOfTLS(t *testing.T) {
	var proto string
	proxied(t, func(_ http.ResponseWriter, r *http.Request) { proto = r.Header.Get("X-Forwarded-Proto") }, func(t *testing.T, w *world) {
		if got := w.do(t, "GET /"); got != 200 || proto != "https" {
			t.Errorf("%d, %q", got, proto)
		}
		if got := w.do(t, "GET /", "X-Forwarded-Proto", "http"); got != 200 || proto != "http" {
			t.Errorf("%d, %q", got, proto)
		}
	}, withTLS)
}

// Answers that a fault cuts end without a goodbye, as of a server that dies; those in order end with one.
func TestCutsSayNoGoodbye(t *testing.T) {
	for text, goodbye := range map[string]bool{"close": false, "{close: {after: head}}": false, "truncate": false, "reset": false, "hang": false, "pass": true} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := listenWith(t, strings.Replace(text, "hang", "{hang: {for: 10ms}}", 1), view{secure: true})
			raw, err := net.Dial("tcp", strings.TrimPrefix(w.url, "https://"))
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			tap := &tapped{Conn: raw}
			conn := tls.Client(tap, &tls.Config{RootCAs: authority().Only(), ServerName: "localhost", MaxVersion: tls.VersionTLS12}) // where alerts can be seen
			_, _ = io.WriteString(conn, "GET /bad HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
			_, err = io.ReadAll(conn)
			if text != "reset" && err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Error(err)
			}
			if alert := tap.records()[21]; alert != goodbye {
				t.Errorf("a goodbye came: %v", alert)
			}
		})
	}
}

// tapped keeps what is read.
type tapped struct {
	net.Conn
	all []byte
}

func (c *tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.all = append(c.all, p[:n]...)
	return n, err
}

// records lists the types of TLS records that were read.
func (c *tapped) records() map[byte]bool {
	types := map[byte]bool{}
	for rest := c.all; len(rest) >= 5; {
		types[rest[0]] = true
		rest = rest[min(len(rest), 5+int(rest[3])<<8+int(rest[4])):]
	}
	return types
}
