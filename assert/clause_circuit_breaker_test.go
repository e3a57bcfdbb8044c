package assert_test

import (
	"strings"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// A breaker that never tries the server again is told from one that has nothing to do, is to wait, or waits a little longer.
func TestStuckBreaker(t *testing.T) {
	clause := assert.CircuitBreaker{Breaker: assert.Breaker{Failures: 10, Open: 500 * ms, Probes: 1}}
	stalled := assert.Noise{Slices: []assert.Slice{{P50: ms, P99: s, Max: 5 * s, Samples: 100}}}
	opened := func() *history.Builder { return probed(10, 600*ms, 1, 0) }
	for _, c := range []struct {
		name    string
		history *history.Builder
		given   int // calls a tenth of a second apart, behind the first second
		noise   assert.Noise
		want    assert.Verdict
		words   string
	}{
		{"for ten times the pause and more", opened(), 100, calm, assert.Fail, "sent nothing for 10.2 s after its last failure, although it was given 129 calls meanwhile"},
		{"not so long yet", opened(), 40, calm, assert.Pass, "stopped calling after 10 failures"},
		{"on a machine that stalls", opened(), 60, stalled, assert.Inconclusive, "but the canary was late"},
		{"without a canary", opened(), 100, assert.Noise{}, assert.Inconclusive, "no canary ran"},
		{"told to wait", opened().RetryAfter("60"), 100, calm, assert.Pass, "stopped calling"},
		{"a probe that never ends", hung(probed(10, 600*ms, 0, 0)), 100, calm, assert.Fail, "sent nothing for"},
		{"it was answered last", probed(10, 600*ms, 1, 1), 100, calm, assert.Pass, "stopped calling"},
		{"it had left the probe by itself", opened().With(func(e *journal.Entry) { e.Status, e.Gone = 0, e.At+ms }), 100, calm, assert.Fail, "sent nothing for"},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := asked(10*ms, 100, 100*ms, c.given)
			run.Noise = c.noise
			got := clause.Check(assert.Calls(c.history.Entries(), assert.Key{Run: run}))
			if got.Verdict != c.want || !strings.Contains(got.Detail, c.words) {
				t.Errorf("%s: %s; want %s: %s", got.Verdict, got.Detail, c.want, c.words)
			}
		})
	}
}
