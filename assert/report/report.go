// Package report turns what was judged into something to read: one format a file, each registered by its name. A report
// is plain data; a format is a pure function of it.
package report

import (
	"io"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// Report is the outcome of a run: who was judged, by what, with which result and on what evidence.
// Fill it, set FailOn, then call Conclude.
type Report struct {
	Version   string         `json:"version"`
	Verdict   assert.Verdict `json:"verdict"`
	Exit      int            `json:"exit"`
	FailOn    assert.Level   `json:"fail_on"`
	Seed      uint64         `json:"seed"`
	Speed     int            `json:"speed,omitempty"` // how many times faster than the machine's the client's clock ran, at most; all times are the client's
	Contract  Contract       `json:"contract"`
	Clients   []Client       `json:"clients"`
	Scenarios []Scenario     `json:"scenarios"`
	Results   []Result       `json:"results"`
	Waits     []Wait         `json:"waits"`
	Policy    *Policy        `json:"policy,omitempty"`
	Notes     []string       `json:"notes"`
	Errors    []string       `json:"errors"` // clients that could not be judged, and why
}

// Contract names what the clients were judged by.
type Contract struct {
	Name    string `json:"name"`
	Profile string `json:"profile"`
}

// Client is one program or function under test; Command is its argv, empty for a function or a recorded history.
type Client struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
}

// Scenario is one scenario as it ran; Count fills in what is known of its calls. Fired counts how often each rule's fault acted.
type Scenario struct {
	Name     string            `json:"name"`
	Clients  int               `json:"clients"`
	Requests int               `json:"requests"`
	Seconds  float64           `json:"seconds"`
	Fired    map[string]uint64 `json:"fired"`
	Notes    []string          `json:"notes"`

	Calls     []assert.Grouping `json:"calls"`     // how the requests were told apart into calls
	Uncharged map[string]int    `json:"uncharged"` // what was recognised and not charged as retries; keys: see assert.Uncharged
}

// Result is one clause's verdict in one scenario. Fix says what to change in a client that breaks the clause.
type Result struct {
	Scenario string         `json:"scenario"`
	Clause   string         `json:"clause"`
	Level    assert.Level   `json:"level"`
	Verdict  assert.Verdict `json:"verdict"`
	Detail   string         `json:"detail"`
	Fix      string         `json:"fix,omitempty"`
	Accepted *Accepted      `json:"accepted,omitempty"` // a fail that is known: see Accept
	Witness  []Witness      `json:"witness"`
}

// Witness is one exchange that shows a breach. AtMS counts from the start of its scenario's run. GapMS is the wait since
// the end of the attempt before it in its call; null for a call's first attempt.
type Witness struct {
	Seq        uint64   `json:"seq"`
	AtMS       float64  `json:"at_ms"`
	Client     string   `json:"client"`
	Method     string   `json:"method"`
	Path       string   `json:"path"`
	Status     int      `json:"status"` // 0: no status line was sent
	GapMS      *float64 `json:"gap_ms"`
	Fault      string   `json:"fault,omitempty"`
	RetryAfter string   `json:"retry_after,omitempty"`
	Cut        bool     `json:"cut,omitempty"`       // the answer was broken off
	Left       bool     `json:"left,omitempty"`      // the client went away before the answer was over
	Handshake  string   `json:"handshake,omitempty"` // why the TLS handshake failed
}

// Wait sums up the waits before one retry (1: before the second attempt) over all calls of a scenario, in milliseconds.
type Wait struct {
	Scenario string  `json:"scenario"`
	Retry    int     `json:"retry"`
	N        int     `json:"n"`
	MinMS    float64 `json:"min_ms"`
	MedianMS float64 `json:"median_ms"`
	MaxMS    float64 `json:"max_ms"`
}

// Style is how a format may dress its output. The zero value is plain and 100 columns wide.
type Style struct {
	Color bool
	Width int // columns; text keeps between 72 and 100 of them
}

// Format is one way to write a report.
type Format struct {
	Name, Summary string
	Write         func(w io.Writer, r Report, s Style) error
}

// Formats holds every registered format. JUnit is not among them: Ginkgo writes it.
var Formats = registry.New[Format]("report format")

func register(f Format) { Formats.Add(f.Name, f) }
