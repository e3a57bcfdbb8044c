// Package devca is a certificate authority for development: it vouches for this machine's loopback addresses and for
// nothing else, so that clients under test can be made to trust a fault server without putting anything at risk. It also
// issues, on purpose, certificates that no client may accept.
package devca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

const (
	lifetime = 90 * 24 * time.Hour // of an authority
	renewal  = 14 * 24 * time.Hour // what must be left of it when it is taken from a directory
	skew     = time.Hour           // how far behind a client's clock may be

	organization = "retrygate development CA"
)

// CA is a certificate authority. Its key is ECDSA P-256, its certificate constrained to localhost, 127.0.0.0/8 and ::1. It
// is safe for concurrent use.
type CA struct {
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	renewed bool

	mu       sync.Mutex
	issued   map[subject]*issue
	stranger *CA // issues what is untrusted; nil: not needed yet
}

// New makes an authority that lives for 90 days, and only in memory.
func New() (*CA, error) { return named(organization) }

func named(name string) (*CA, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("devca: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{Organization: []string{name}, CommonName: name + " " + now.UTC().Format(time.DateOnly)},
		NotBefore:             now.Add(-skew),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,

		PermittedDNSDomainsCritical: true,
		PermittedDNSDomains:         []string{"localhost"}, // and what ends in .localhost
		PermittedIPRanges: []*net.IPNet{
			{IP: net.IPv4(127, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)},
			{IP: net.IPv6loopback, Mask: net.CIDRMask(128, 128)},
		},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("devca: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("devca: %w", err)
	}
	return &CA{cert: cert, key: key, renewed: true}, nil
}

// serial is a number that no other certificate has.
func serial() *big.Int {
	n, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) // never fails
	return n
}

// PEM is the authority's certificate: what clients are told to trust.
func (c *CA) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.cert.Raw})
}

// Renewed reports whether the authority is a new one, so that whoever trusted an earlier one has to do so again.
func (c *CA) Renewed() bool { return c.renewed }

// Until is when its certificate expires.
func (c *CA) Until() time.Time { return c.cert.NotAfter }

// Pool holds what the system trusts and this authority, for Go clients. Where the system's list cannot be read it holds
// this authority alone.
func (c *CA) Pool() *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	pool.AddCert(c.cert)
	return pool
}

// Only holds this authority and no other.
func (c *CA) Only() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(c.cert)
	return pool
}
