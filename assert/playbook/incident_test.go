package playbook_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/incident"
	"github.com/retrygate/retrygate/assert/playbook"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// investigate reads a log and says what is found.
func investigate(t testing.TB, log io.Reader, lo accesslog.Options, po playbook.Options) playbook.Findings {
	t.Helper()
	r, err := accesslog.Open([]accesslog.Input{{Name: "log", Open: func() (io.ReadCloser, error) { return io.NopCloser(log), nil }}}, lo)
	if err != nil {
		t.Fatal(err)
	}
	v := playbook.New(po)
	if err := r.Each(func(e *journal.Entry) bool { v.Add(e); return true }); err != nil {
		t.Fatal(err)
	}
	s := r.Summary()
	return v.Findings(playbook.Facts{Files: []string{"log"}, Malformed: s.Lines(), Began: s.Began, Until: s.Until, Resolution: s.Resolution})
}

// held compares findings with the truth: the clients that loop and their redundant requests, to the last one.
func held(t *testing.T, f playbook.Findings, truth incident.Truth) {
	t.Helper()
	if f.Requests != truth.Lines || f.Malformed != 0 {
		t.Errorf("%d requests and %d malformed lines, want %d and 0", f.Requests, f.Malformed, truth.Lines)
	}
	found, loops := map[string]int{}, 0
	for _, c := range f.Accused {
		found[c.Name] += c.Redundant
		loops += c.Loops
		if c.Verdict != assert.Fail || len(c.Breaks) == 0 {
			t.Errorf("%s breaks nothing, it is said: %+v", c.Name, c)
		}
		if slices.Contains(truth.Lawful, c.Name) {
			t.Errorf("%s is lawful, and accused: %s", c.Name, c.Pattern)
		}
	}
	for client, n := range truth.Redundant {
		if found[client] != n {
			t.Errorf("%s made %d redundant requests, found %d", client, n, found[client])
		}
	}
	if len(found) != len(truth.Redundant) || f.Redundant != truth.Total() {
		t.Errorf("found %d clients with %d redundant requests, want %d with %d", len(found), f.Redundant, len(truth.Redundant), truth.Total())
	}
	if first := slices.MinFunc(f.Accused, func(a, b playbook.Client) int { return a.Storm.From.Compare(*b.Storm.From) }); first.Storm.From.Sub(truth.Start).Abs() > time.Second {
		t.Errorf("the storm is said to begin at %s, and did at %s", first.Storm.From, truth.Start)
	}
	t.Logf("%d loops found of %d", loops, truth.Loops)
}

// TestS0 names the drivers' apps that loop on a 400 out of 823,000 lines of whole seconds, and nobody else.
func TestS0(t *testing.T) {
	var log bytes.Buffer
	truth, err := incident.S0(&log, 1)
	if err != nil {
		t.Fatal(err)
	}
	if truth.Total() < 790_000 || truth.Peak < 2300 || truth.Peak > 2500 {
		t.Errorf("the incident had 2,400 a minute at its peak and some 800,000 redundant requests; this has %d and %d", truth.Peak, truth.Total())
	}
	f := investigate(t, &log, accesslog.Options{}, playbook.Options{Alerts: []assert.Rate{{N: 1000, Per: 5 * time.Minute}}})
	held(t, f, truth)
	worst := f.Accused[0]
	if len(worst.Statuses) != 1 || worst.Statuses[0].Status != 400 || worst.Usual > 20 || worst.PeakRate < 550 || worst.PeakRate > 660 {
		t.Errorf("the worst: %+v", worst)
	}
	if len(f.Alerts) != len(truth.Redundant) {
		t.Errorf("%d alerts for %d clients", len(f.Alerts), len(truth.Redundant))
	}
}

// TestS1 names the one key that sends 40 requests a second.
func TestS1(t *testing.T) {
	var log bytes.Buffer
	truth, err := incident.S1(&log, 1, func(key string) string {
		h := sha256.Sum256([]byte(key))
		return "x-api-key:" + hex.EncodeToString(h[:6])
	})
	if err != nil {
		t.Fatal(err)
	}
	f := investigate(t, &log, accesslog.Options{Client: []string{"header:x-api-key"}}, playbook.Options{})
	held(t, f, truth)
	if c := f.Accused[0]; c.Storm.Peak < 2300 || c.Spacing.MedianMS > 30 || c.CalmRate > 10 {
		t.Errorf("%+v %+v", c.Storm, c.Spacing)
	}
}

// TestS2 finds the fixed delay of the vendor, and leaves the one alone that keeps to the webhooks' standard.
func TestS2(t *testing.T) {
	var log bytes.Buffer
	truth, err := incident.S2(&log, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := investigate(t, &log, accesslog.Options{}, playbook.Options{})
	held(t, f, truth)
	c := f.Accused[0]
	if !c.Spacing.Fixed || c.Spacing.MedianMS < 4990 || c.Spacing.MedianMS > 5010 {
		t.Errorf("the fixed delay is 5 s, found %+v", c.Spacing)
	}
	if want := "it sends a failed request again 5.00 s after each failure, without backoff"; !bytes.Contains([]byte(c.Pattern), []byte(want)) {
		t.Errorf("pattern %q", c.Pattern)
	}
}
