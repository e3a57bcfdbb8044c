package fault

import (
	"net"
	"net/http"

	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name: "certificate",
		Summary: "shows each new connection a TLS certificate that no client may accept: expired, not-yet, wrong-host, untrusted or self-signed; " +
			"who accepts it is answered",
		Example: "{certificate: {problem: wrong-host}}",
		New:     func() Fault { return &Certificate{Problem: CertificateProblem(devca.Expired)} },
		Role:    Final,
	})
}

// InHandshake is a fault that acts in the TLS handshake of new connections. Those that are kept alive have theirs behind
// them and do not meet it; servers that speak no TLS refuse it.
type InHandshake interface {
	Fault
	// Shows is what is to be wrong with the server's certificate.
	Shows() devca.Problem
}

// Certificate shows a certificate with a problem. A connection on which the client leaves without a request is journalled as
// an attempt that the fault ended; requests of a client that overlooks the problem are answered under the fault's name.
type Certificate struct {
	Problem CertificateProblem `yaml:"problem" doc:"expired (default), not-yet, wrong-host, untrusted or self-signed"`
}

// Shows names the problem.
func (f *Certificate) Shows() devca.Problem { return devca.Problem(f.Problem) }

// Hold has requests answered that come all the same.
func (*Certificate) Hold(net.Conn) Held { return overlooked{} }

// Inject lets next answer: for a request, it is too late for a handshake.
func (*Certificate) Inject(w http.ResponseWriter, r *http.Request, next http.Handler) {
	next.ServeHTTP(w, r)
}

// Validate is for faults that were made in Go.
func (f *Certificate) Validate(n strict.Node) {
	if err := new(CertificateProblem).UnmarshalText([]byte(f.Problem)); err != nil {
		n.At("problem").Fail("problem: %v", err)
	}
}

// overlooked is a certificate that the client has accepted.
type overlooked struct{}

func (overlooked) Select(http.ResponseWriter, *http.Request) Fault { return answer{} }
func (overlooked) Idle()                                           {}
func (overlooked) Drop()                                           {}

// CertificateProblem is a devca.Problem as plans write it.
type CertificateProblem devca.Problem

// UnmarshalText reads the word that plans use.
func (p *CertificateProblem) UnmarshalText(text []byte) error {
	return readWord((*devca.Problem)(p), text, "a certificate has no problem", devca.Problems())
}

// JSONSchema lists the words that plans use.
func (CertificateProblem) JSONSchema() map[string]any { return wordSchema(devca.Problems()) }
