package faultserver

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"net"
	"net/netip"
	"slices"

	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/fault"
)

// ClientCertificates is what a server that speaks TLS wants to know of its clients.
type ClientCertificates uint8

// What it may want. Whoever shows a certificate is told from others by it, as "cert:NAME-KEY": its common name, and a hash of
// its public key.
const (
	NoCertificates      ClientCertificates = iota
	AskForCertificate                      // clients may show one, by whoever it is issued
	RequireCertificate                     // they must
	VerifiedCertificate                    // they must, and the server's own authority must have issued it
)

// WithTLS makes the server speak TLS on all its addresses, with certificates that ca issues: HTTP/1.1 and HTTP/2, as the
// client chooses. Rules may then act in handshakes.
func WithTLS(ca *devca.CA) Option { return func(s *Server) { s.ca = ca } }

// WithClientCertificates sets what clients must show of themselves in TLS handshakes; default nothing.
func WithClientCertificates(c ClientCertificates) Option {
	return func(s *Server) { s.clientCerts = c }
}

// prepareTLS makes a configuration for certificates in order, and for each problem one without session tickets: who comes
// with a ticket is not shown a certificate.
func (s *Server) prepareTLS() {
	if s.ca == nil {
		return
	}
	s.configs = map[devca.Problem]*tls.Config{}
	for _, problem := range append(devca.Problems(), devca.None) {
		config := &tls.Config{
			MinVersion:             tls.VersionTLS12,
			NextProtos:             []string{"h2", "http/1.1"},
			SessionTicketsDisabled: problem != devca.None,
			GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
				return s.ca.Certificate(problem, localAddr(hello.Conn))
			},
		}
		switch s.clientCerts {
		case AskForCertificate:
			config.ClientAuth = tls.RequestClientCert
		case RequireCertificate:
			config.ClientAuth = tls.RequireAnyClientCert
		case VerifiedCertificate:
			config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, s.ca.Only()
		}
		s.configs[problem] = config
	}
}

func localAddr(conn net.Conn) netip.Addr {
	at, _ := netip.ParseAddrPort(conn.LocalAddr().String()) // else the certificate does without it
	return at.Addr()
}

// scheme begins the server's URLs.
func (s *Server) scheme() string {
	if s.ca != nil {
		return "https://"
	}
	return "http://"
}

// NeedsTLS reports whether a rule acts in TLS handshakes: a server that speaks plain HTTP refuses such a plan.
func (p Plan) NeedsTLS() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return slices.ContainsFunc(r.faults(), fault.Spec.InHandshake) })
}

// compile checks a plan for this server, and makes a program of it.
func (s *Server) compile(p Plan) (*program, error) {
	if s.ca == nil {
		for i, r := range p.Rules {
			if j := slices.IndexFunc(r.faults(), fault.Spec.InHandshake); j >= 0 {
				return nil, &needsTLS{r.name(i), r.faults()[j].Name()}
			}
		}
	}
	return p.compile()
}

// needsTLS refuses a rule that could never act.
type needsTLS struct{ rule, fault string }

func (e *needsTLS) Error() string {
	return "faultserver: rule " + e.rule + ": " + e.fault + " acts in TLS handshakes, and this server speaks plain HTTP; " +
		"let it speak TLS (--tls, or WithTLS in Go), or leave the rule out"
}

// identity names the client of a certificate, and keeps two apart that call themselves the same.
func identity(state *tls.ConnectionState) string {
	if len(state.PeerCertificates) == 0 {
		return ""
	}
	cert := state.PeerCertificates[0]
	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)
	key := hex.EncodeToString(sum[:4])
	if name := cert.Subject.CommonName; name != "" {
		return bounded("cert:" + name + "-" + key)
	}
	return "cert:" + key
}
