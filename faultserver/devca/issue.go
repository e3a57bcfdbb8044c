package devca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// Problem is what is wrong with a certificate; each alone is a reason to turn it down.
type Problem string

// The problems.
const (
	None       Problem = ""
	Expired    Problem = "expired"     // a day ago
	NotYet     Problem = "not-yet"     // valid from tomorrow on
	WrongHost  Problem = "wrong-host"  // for wrong-host.localhost and 127.255.255.254
	Untrusted  Problem = "untrusted"   // issued by an authority that nobody knows
	SelfSigned Problem = "self-signed" // issued by nobody
)

// Problems lists all but None.
func Problems() []Problem { return []Problem{Expired, NotYet, WrongHost, Untrusted, SelfSigned} }

const (
	leafLifetime = 7 * 24 * time.Hour
	fresh        = 12 * time.Hour // how long an issued certificate is shown before another is made
	day          = 24 * time.Hour
)

type subject struct {
	problem Problem
	addr    netip.Addr
}

type issue struct {
	cert *tls.Certificate
	at   time.Time
}

// Certificate gives the certificate for a server on a loopback address, with its key; it is for localhost, *.localhost,
// 127.0.0.1, ::1 and that address. Certificates are kept and renewed in time, so that servers may ask at every handshake.
func (c *CA) Certificate(p Problem, addr netip.Addr) (*tls.Certificate, error) {
	if addr = addr.Unmap().WithZone(""); !addr.IsLoopback() {
		addr = netip.Addr{} // nobody would believe it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := subject{p, addr}
	now := time.Now()
	if i := c.issued[at]; i != nil && now.Sub(i.at) < fresh {
		return i.cert, nil
	}
	cert, err := c.serverCertificate(p, addr, now)
	if err != nil {
		return nil, fmt.Errorf("devca: %w", err)
	}
	if c.issued == nil {
		c.issued = map[subject]*issue{}
	}
	c.issued[at] = &issue{cert, now}
	return cert, nil
}

func (c *CA) serverCertificate(p Problem, addr netip.Addr, now time.Time) (*tls.Certificate, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{Organization: []string{organization}, CommonName: "localhost"},
		NotBefore:   now.Add(-skew),
		NotAfter:    now.Add(leafLifetime),
		DNSNames:    []string{"localhost", "*.localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if addr.IsValid() {
		template.IPAddresses = append(template.IPAddresses, addr.AsSlice())
	}
	from := c
	switch p {
	case Expired:
		template.NotBefore, template.NotAfter = now.Add(-2*day), now.Add(-day)
	case NotYet:
		template.NotBefore, template.NotAfter = now.Add(day), now.Add(2*day)
	case WrongHost:
		template.Subject.CommonName = "wrong-host.localhost"
		template.DNSNames, template.IPAddresses = []string{"wrong-host.localhost"}, []net.IP{net.IPv4(127, 255, 255, 254)}
	case Untrusted:
		if c.stranger == nil {
			stranger, err := named("retrygate unknown CA")
			if err != nil {
				return nil, err
			}
			c.stranger = stranger
		}
		from = c.stranger
	case SelfSigned:
		from = nil
	}
	return from.sign(template)
}

// sign makes a key and has its certificate issued; a nil CA lets it vouch for itself.
func (c *CA) sign(template *x509.Certificate) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template.SerialNumber, template.KeyUsage, template.BasicConstraintsValid = serial(), x509.KeyUsageDigitalSignature, true
	parent, signer := template, key
	if c != nil {
		parent, signer = c.cert, c.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

// ClientCertificate issues a certificate by which a client of this name can be told from others.
func (c *CA) ClientCertificate(name string) (*tls.Certificate, error) {
	now := time.Now()
	cert, err := c.sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name},
		NotBefore:   now.Add(-skew),
		NotAfter:    now.Add(leafLifetime),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, fmt.Errorf("devca: %w", err)
	}
	return cert, nil
}
