package devca_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/faultserver/devca"
)

var loopback = netip.MustParseAddr("127.0.0.1")

// judge verifies a certificate as a client does that trusts the authority and no other.
func judge(t *testing.T, ca *devca.CA, cert *tls.Certificate, host string) error {
	t.Helper()
	_, err := cert.Leaf.Verify(x509.VerifyOptions{Roots: ca.Only(), DNSName: host})
	return err
}

func authority(t *testing.T) *devca.CA {
	t.Helper()
	ca, err := devca.New()
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func TestCertificatesForThisMachine(t *testing.T) {
	ca := authority(t)
	cert, err := ca.Certificate(devca.None, netip.MustParseAddr("127.3.2.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"localhost", "client-1.localhost", "127.0.0.1", "[::1]", "127.3.2.1"} {
		if err := judge(t, ca, cert, host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"example.com", "127.3.2.2", "10.0.0.1"} {
		if judge(t, ca, cert, host) == nil {
			t.Errorf("%s is vouched for", host)
		}
	}
	if judge(t, authority(t), cert, "localhost") == nil {
		t.Error("another authority vouches for it")
	}
}

// Each problem is the only one: a client that overlooks it has no other reason to turn the certificate down.
func TestProblems(t *testing.T) {
	for _, p := range devca.Problems() {
		ca := authority(t)
		cert, err := ca.Certificate(p, loopback)
		if err != nil {
			t.Fatal(err)
		}
		err = judge(t, ca, cert, "127.0.0.1")
		options := x509.VerifyOptions{Roots: ca.Only(), DNSName: "127.0.0.1"}
		var invalid x509.CertificateInvalidError
		var host x509.HostnameError
		var unknown x509.UnknownAuthorityError
		right := false
		switch p {
		case devca.Expired, devca.NotYet:
			right = errors.As(err, &invalid) && invalid.Reason == x509.Expired
			options.CurrentTime = cert.Leaf.NotBefore.Add(time.Minute)
			options.Roots = nil // the authority itself may be younger
		case devca.WrongHost:
			right = errors.As(err, &host)
			options.DNSName = "wrong-host.localhost"
		case devca.Untrusted, devca.SelfSigned:
			right = errors.As(err, &unknown)
			options.Roots = nil
		}
		if !right {
			t.Errorf("%s: %v", p, err)
		}
		if options.Roots == nil {
			options.Roots = x509.NewCertPool()
			options.Roots.AddCert(cert.Leaf)
		}
		if _, err := cert.Leaf.Verify(options); err != nil {
			t.Errorf("%s has another problem: %v", p, err)
		}
	}
}

// A server that runs for weeks always has a certificate that is valid, and makes few.
func TestCertificatesAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := authority(t)
		made := map[*tls.Certificate]bool{}
		for range 60 * 24 {
			cert, err := ca.Certificate(devca.None, loopback)
			if err != nil {
				t.Fatal(err)
			}
			if err := judge(t, ca, cert, "localhost"); err != nil {
				t.Fatal(err)
			}
			made[cert] = true
			time.Sleep(time.Hour)
		}
		if len(made) != 120 {
			t.Errorf("%d certificates in 60 days, want one for each half day", len(made))
		}
	})
}

func TestOpenKeepsAnAuthority(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tls")
	first, err := devca.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := devca.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !first.Renewed() || second.Renewed() || string(first.PEM()) != string(second.PEM()) {
		t.Error("the second run has another authority")
	}
	cert, err := second.Certificate(devca.None, loopback)
	if err != nil || judge(t, first, cert, "localhost") != nil {
		t.Error("the authority that was read does not sign as the one that was written", err)
	}
	if info, err := os.Stat(filepath.Join(dir, devca.KeyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, devca.CertFile)); err != nil || string(text) != string(first.PEM()) {
		t.Errorf("%s, %v", text, err)
	}
	if err := os.Remove(filepath.Join(dir, devca.CertFile)); err != nil {
		t.Fatal(err)
	}
	if third, err := devca.Open(dir); err != nil || third.Renewed() {
		t.Error("the copy for clients is gone, not the authority", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Error(left)
	}
}

func TestOpenRenewsInTime(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		for _, step := range []struct {
			later time.Duration
			again bool
		}{{0, true}, {75 * 24 * time.Hour, false}, {2 * 24 * time.Hour, true}, {0, false}} {
			time.Sleep(step.later)
			ca, err := devca.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if ca.Renewed() != step.again || time.Until(ca.Until()) < 14*24*time.Hour {
				t.Errorf("after %v: renewed %v, until %v", step.later, ca.Renewed(), ca.Until())
			}
		}
	})
}

func TestOpenTellsWhatIsBroken(t *testing.T) {
	other, kept := t.TempDir(), t.TempDir()
	for _, dir := range []string{other, kept} {
		if _, err := devca.Open(dir); err != nil {
			t.Fatal(err)
		}
	}
	read := func(dir string) string {
		text, err := os.ReadFile(filepath.Join(dir, devca.KeyFile))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const begin = "-----BEGIN CERT"
	key, cert, _ := strings.Cut(read(kept), begin)
	_, otherCert, _ := strings.Cut(read(other), begin)
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"open to all":    {key + begin + cert, 0o644, "can be read by others (mode 0644)"},
		"empty":          {"", 0o600, "has no EC PRIVATE KEY"},
		"no certificate": {key, 0o600, "has no CERTIFICATE"},
		"mixed up":       {key + begin + otherCert, 0o600, "do not belong together"},
		"broken":         {key + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 0o600, "has a broken CERTIFICATE"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, devca.KeyFile)
			if err := errors.Join(os.WriteFile(file, []byte(c.text), c.mode), os.Chmod(file, c.mode)); err != nil {
				t.Fatal(err)
			}
			_, err := devca.Open(dir)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if text, _ := os.ReadFile(file); string(text) != c.text {
				t.Error("it was overwritten")
			}
		})
	}
	t.Run("somebody else's", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, devca.CertFile), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := devca.Open(dir); err == nil || !strings.Contains(err.Error(), "without its key") {
			t.Error(err)
		}
	})
	if _, err := devca.Open(""); err == nil {
		t.Error("no directory is one")
	}
}

func TestClientCertificate(t *testing.T) {
	ca := authority(t)
	cert, err := ca.ClientCertificate("billing")
	if err != nil {
		t.Fatal(err)
	}
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if _, err := cert.Leaf.Verify(x509.VerifyOptions{Roots: ca.Only(), KeyUsages: usage}); err != nil || cert.Leaf.Subject.CommonName != "billing" {
		t.Error(cert.Leaf.Subject, err)
	}
}
