package contract

import (
	"net/url"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/driver"
)

// Request says who is judged, by what and how. Specs fills one from its options; Verify takes one as it is.
type Request struct {
	Client    driver.Client
	Contract  *assert.Contract     // nil: the strict profile
	Scenarios []scenarios.Scenario // nil: those of Default
	Clients   int                  // at least so many clients in each scenario; 0: what the scenario asks for
	Seed      uint64               // makes chance and jittered faults repeatable
	Limit     time.Duration        // longest time for one client in one scenario; 0: as the scenario and the contract's deadline need
	Upstream  *url.URL             // answers what no fault touches; nil: the stub
	CA        *devca.CA            // the server speaks TLS under this authority; nil: plain HTTP
	Speed     int                  // how many times faster than the machine's a command's clock runs, or Auto; 0 and 1: real time
	Memory    bool                 // over a network in memory: for clients made with driver.HTTPFunc, in virtual time
	Bubble    func(run func())     // calls run in a bubble of virtual time; see VirtualTime; nil: the machine's time
	FailOn    assert.Level         // a breach at this level or above fails; lesser ones warn
	Known     assert.Known         // breaches that are accepted for a while: they warn
	Today     time.Time            // what their last days are compared with; zero: now
	JUnit     string               // file that Ginkgo writes, "": none (Verify only)
	Journals  string               // directory that gets each scenario's history as JSON Lines, "": none (Verify only)
	Progress  func(driver.Event)   // told how the runs go on; nil: nobody

	leftOut []string // notes about scenarios that do not run
}

func (r *Request) fill() {
	if r.Contract == nil {
		r.Contract = assert.Strict()
	}
	if r.Scenarios == nil {
		r.Scenarios, r.leftOut = Default(r.Client, r.Contract, r.CA != nil)
	}
	if r.Today.IsZero() {
		r.Today = time.Now()
	}
}

// Option changes how Specs judges a client.
type Option func(*Request)

// By judges by this contract; the default is the strict profile.
func By(c *assert.Contract) Option { return func(r *Request) { r.Contract = c } }

// Known accepts these breaches until they expire: they are skips that say why.
func Known(k assert.Known) Option { return func(r *Request) { r.Known = k } }

// In runs only these scenarios; the default is what Default lists.
func In(s ...scenarios.Scenario) Option { return func(r *Request) { r.Scenarios = s } }

// Clients runs at least n clients in each scenario; the default is what the scenario asks for.
func Clients(n int) Option { return func(r *Request) { r.Clients = n } }

// Seed makes chance and jittered faults repeatable; the default is 1.
func Seed(seed uint64) Option { return func(r *Request) { r.Seed = seed } }

// Limit bounds the time that one client may take in one scenario; the default is what the scenario and the contract's deadline
// need.
func Limit(d time.Duration) Option { return func(r *Request) { r.Limit = d } }

// Upstream sends what no fault touches to a real API instead of the stub.
func Upstream(u *url.URL) Option { return func(r *Request) { r.Upstream = u } }

// TLS has the server speak TLS, with certificates that ca issues: see driver.Options.CA. The default is plain HTTP.
func TLS(ca *devca.CA) Option { return func(r *Request) { r.CA = ca } }

// FailOn sets the level from which a breach fails its spec; the default is assert.Major. Lesser breaches are skips.
func FailOn(l assert.Level) Option { return func(r *Request) { r.FailOn = l } }
