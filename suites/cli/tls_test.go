package cli

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// asking asks once over TLS, on a connection of its own.
func asking(t *testing.T, url, ca string) error {
	t.Helper()
	text, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}

// serve --tls keeps its CA over runs, says how to trust it, and shows what clients make of a bad certificate.
func TestServeTLS(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(plan, []byte("rules: [{name: old, when: {first: 1}, fault: {certificate: {problem: expired}}}]"), 0o644); err != nil {
		t.Fatal(err)
	}
	ca := filepath.Join(dir, "tls", "ca.pem")
	for _, state := range []string{"a new CA", "the CA of earlier runs"} {
		s := serve(t, "--tls-dir", filepath.Join(dir, "tls"), "--plan", plan)
		if !strings.HasPrefix(s.url, "https://") {
			t.Fatal(s.url)
		}
		first, shown := asking(t, s.url, ca), ""
		for !strings.Contains(shown, "#1") { // the client is told of its failure before the server is
			line, err := s.output.ReadString('\n')
			if shown += line; err != nil {
				t.Fatal(shown)
			}
		}
		second := asking(t, s.url, ca)
		if first == nil || !strings.Contains(first.Error(), "expired") || second != nil {
			t.Errorf("first %v, then %v", first, second)
		}
		_, said := s.stop()
		said = shown + said
		for _, want := range []string{
			state + ", valid until 20", "curl --cacert " + ca + " " + s.url, "NODE_EXTRA_CA_CERTS=" + ca, "keytool -importcert", "update-ca-certificates",
			"(no request) -> TLS: alert: bad certificate  rule old", "GET / -> 200",
		} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is not in:\n%s", want, said)
			}
		}
	}
}

// The CA of one run is in a file for as long as it lasts.
func TestServeTLSForOneRun(t *testing.T) {
	s := serve(t, "--tls", "--client-cert", "ask")
	line, _ := s.output.ReadString('\n')
	line2, _ := s.output.ReadString('\n')
	file := regexp.MustCompile(`--cacert (\S+)`).FindStringSubmatch(line + line2)
	if file == nil {
		t.Fatal(line + line2)
	}
	if err := asking(t, s.url, file[1]); err != nil {
		t.Error(err)
	}
	s.stop()
	if _, err := os.Stat(file[1]); err == nil {
		t.Errorf("%s is left", file[1])
	}
}

// A client that does not trust the CA is told from one that is silent.
func TestVerifyTLSNamesDistrust(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	distrusts := `import ssl, sys, urllib.request; urllib.request.urlopen(sys.argv[1], context=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))`
	var stdout, stderr bytes.Buffer
	exit := Main(t.Context(), []string{"verify", "--tls", "--scenario", "sustained-400", "--", "python3", "-c", distrusts, "{{url}}/"}, nil, &stdout, &stderr, nil)
	said := strings.Join(strings.Fields(stdout.String()+stderr.String()), " ")
	if exit != 2 || !strings.Contains(said, "it turned the server's certificate down (unknown certificate authority); let it trust the authority in the file $RETRYGATE_CA") {
		t.Errorf("exit %d: %s", exit, said)
	}
}
