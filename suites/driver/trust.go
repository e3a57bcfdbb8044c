package driver

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retrygate/retrygate/faultserver/devca"
)

// trust is what commands need to believe a server that speaks TLS: files with the certificates of authorities.
type trust struct {
	dir    string
	ca     string // the server's own authority, and no other
	bundle string // with those that the system trusts
}

// systemBundles are where systems keep the authorities that they trust, in one file.
var systemBundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", // Debian, Alpine
	"/etc/pki/tls/certs/ca-bundle.crt",   // Fedora
	"/etc/ssl/ca-bundle.pem",             // openSUSE
	"/etc/ssl/cert.pem",                  // macOS, BSD
}

// newTrust writes the files; remove takes them away.
func newTrust(ca *devca.CA) (*trust, error) {
	dir, err := os.MkdirTemp("", "retrygate-ca-")
	if err != nil {
		return nil, fmt.Errorf("trust: %w", err)
	}
	t := &trust{dir: dir, ca: filepath.Join(dir, "ca.pem"), bundle: filepath.Join(dir, "bundle.pem")}
	all := append(known(), ca.PEM()...)
	if err := errors.Join(os.WriteFile(t.ca, ca.PEM(), 0o644), os.WriteFile(t.bundle, all, 0o644)); err != nil {
		return nil, fmt.Errorf("trust: %w", errors.Join(err, t.remove()))
	}
	return t, nil
}

// known is what the system trusts; nothing if that is not kept in a file.
func known() []byte {
	for _, file := range append([]string{os.Getenv("SSL_CERT_FILE")}, systemBundles...) {
		if text, err := os.ReadFile(file); err == nil && file != "" {
			return append(text, '\n')
		}
	}
	return nil
}

func (t *trust) remove() error { return os.RemoveAll(t.dir) }

// environment tells programs what to trust, in the variables that they look at.
func (t *trust) environment() []string {
	if t == nil {
		return nil
	}
	return []string{
		"RETRYGATE_CA=" + t.ca,
		"NODE_EXTRA_CA_CERTS=" + t.ca,                  // Node adds it to its own
		"SSL_CERT_FILE=" + t.bundle,                    // OpenSSL, Go, Python's ssl, Ruby, rustls-native-certs
		"CURL_CA_BUNDLE=" + t.bundle,                   // curl
		"REQUESTS_CA_BUNDLE=" + t.bundle,               // Python's requests
		"AWS_CA_BUNDLE=" + t.bundle,                    // AWS SDKs
		"DENO_CERT=" + t.ca,                            // Deno
		"GIT_SSL_CAINFO=" + t.bundle,                   // git
		"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=" + t.bundle, // gRPC
	}
}
