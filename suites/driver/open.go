package driver

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/clock"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// open starts the server, with an address for each client.
func (r *run) open() error {
	r.clock = clock.Fast(r.options.Speed)
	options := []faultserver.Option{
		faultserver.WithJournal(journal.On(r.clock, 0)),
		faultserver.WithSeed(r.options.Seed), faultserver.WithStub(r.options.Stub),
		faultserver.WithErrorLog(log.New(&r.log, "", 0)),
	}
	if r.options.CallHeader != "" {
		options = append(options, faultserver.WithCallHeader(r.options.CallHeader))
	}
	if r.options.calibrate {
		options = append(options, faultserver.Calibrate())
	}
	if r.options.Upstream != nil {
		options = append(options, faultserver.WithUpstream(r.options.Upstream))
	}
	scheme := "http://"
	if r.options.CA != nil {
		scheme, options = "https://", append(options, faultserver.WithTLS(r.options.CA))
	}
	r.server = faultserver.New(options...)
	err := r.server.Use(r.scenario.Plan())
	if err == nil && r.options.CA != nil && !r.options.Memory {
		r.trust, err = newTrust(r.options.CA)
	}
	for i := 0; i < r.options.Clients && err == nil; i++ {
		t := Target{Scenario: r.scenario.Name, Number: i + 1, trust: r.trust, clock: r.clock, faketime: r.faketime}
		switch {
		case r.options.Memory:
			err = r.remember(&t, scheme)
		case r.crew != nil:
			err = r.hold(&t, scheme)
		default:
			t.URL, err = r.server.Listen("127.0.0.1:0", t.Client())
		}
		if r.options.CA != nil {
			t.http = r.trusting()
		}
		r.targets = append(r.targets, t)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("scenario %s: %w", r.scenario.Name, err), r.close())
	}
	return nil
}

// remember gives t an address in memory, and a client that reaches it.
func (r *run) remember(t *Target, scheme string) error {
	l, err := r.network.Listen("")
	if err != nil {
		return err
	}
	r.serve(l, t, scheme)
	t.http = &http.Client{Transport: &http.Transport{DialContext: r.network.DialContext}}
	return nil
}

// hold gives t an address that nobody else gets before the run has ended.
func (r *run) hold(t *Target, scheme string) error {
	p, err := newPort()
	if err != nil {
		return err
	}
	r.ports = append(r.ports, p)
	r.serve(p, t, scheme)
	return nil
}

// serve serves t at a listener.
func (r *run) serve(l net.Listener, t *Target, scheme string) {
	client := t.Client()
	go func() {
		if err := r.server.Serve(l, client); err != nil {
			fmt.Fprintln(&r.log, err)
		}
	}()
	t.URL = scheme + l.Addr().String()
}

// trusting is a client that believes the server's certificates.
func (r *run) trusting() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: r.options.CA.Pool()}
	if r.options.Memory {
		transport.DialContext, transport.Proxy = r.network.DialContext, nil
	}
	return &http.Client{Transport: transport}
}

// close takes away what open has made.
func (r *run) close() error {
	err := r.server.Close()
	for _, p := range r.ports {
		err = errors.Join(err, p.release())
	}
	if r.trust != nil {
		err = errors.Join(err, r.trust.remove())
	}
	return err
}
