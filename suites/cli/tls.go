package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// tlsFlags say whether TLS is spoken, as given.
type tlsFlags struct {
	on  bool
	dir string
}

func (f *tlsFlags) define(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "tls", false, "speak TLS, with certificates of a development CA that is made for it (HTTP/1.1 and HTTP/2)")
	flags.StringVar(&f.dir, "tls-dir", "", "keep the development CA in `DIR` over runs (implies --tls)")
}

// authority is the one to speak TLS under; nil if none is spoken.
func (f *tlsFlags) authority(command string) (ca *devca.CA, err error) {
	switch {
	case f.dir != "":
		ca, err = devca.Open(f.dir)
	case f.on:
		ca, err = devca.New()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: --tls-dir: %w", command, err)
	}
	return ca, nil
}

// clientCert is the --client-cert flag.
type clientCert faultserver.ClientCertificates

var clientCertNames = []string{"", "ask", "require", "verify"}

func (c *clientCert) String() string { return clientCertNames[*c] }
func (*clientCert) Type() string     { return "HOW" }

func (c *clientCert) Set(text string) error {
	i := slices.Index(clientCertNames, text)
	if i < 1 {
		return fmt.Errorf("want ask, require or verify%s", registry.Suggest(text, clientCertNames[1:]))
	}
	*c = clientCert(i)
	return nil
}

// trustFile gives the file that clients are to be told of. The authority of one run is put into a file for as long as it
// lasts, which remove takes away.
func trustFile(ca *devca.CA, dir string) (file string, remove func(), err error) {
	if dir != "" {
		file, err = filepath.Abs(filepath.Join(dir, devca.CertFile))
		return file, func() {}, err
	}
	f, err := os.CreateTemp("", "retrygate-ca-*.pem")
	if err != nil {
		return "", nil, fmt.Errorf("serve: %w", err)
	}
	_, err = f.Write(ca.PEM())
	if err = errors.Join(err, f.Close()); err != nil {
		return "", nil, fmt.Errorf("serve: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return f.Name(), func() { _ = os.Remove(f.Name()) }, nil
}

// trustUsage prints how clients are made to trust an authority, one line each.
func trustUsage(out io.Writer, ca *devca.CA, file, url string) {
	state := "the CA of earlier runs"
	if ca.Renewed() {
		state = "a new CA"
	}
	fmt.Fprintf(out, "certificates come from %s, valid until %s and for localhost only; to trust it:\n", state, ca.Until().UTC().Format("2006-01-02"))
	quoted := report.Quote([]string{file})
	for _, line := range [][2]string{
		{"curl", "curl --cacert " + quoted + " " + url},
		{"Go", "SSL_CERT_FILE=" + quoted + " ./client"},
		{"Node", "NODE_EXTRA_CA_CERTS=" + quoted + " node client.js"},
		{"Python", "SSL_CERT_FILE=" + quoted + " REQUESTS_CA_BUNDLE=" + quoted + " python3 client.py"},
		{"Java", "keytool -importcert -noprompt -alias retrygate -storepass changeit -keystore trust.p12 -file " + quoted +
			" && java -Djavax.net.ssl.trustStore=trust.p12 -Djavax.net.ssl.trustStorePassword=changeit Client"},
		{"Debian", "sudo cp " + quoted + " /usr/local/share/ca-certificates/retrygate.crt && sudo update-ca-certificates"},
	} {
		fmt.Fprintf(out, "  %-7s %s\n", line[0], line[1])
	}
}
