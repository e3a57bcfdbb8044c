package report

import (
	"math"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// NewResult makes a report's result from a clause's. calls are those that were judged: they tell each witness's gap.
func NewResult(scenario string, level assert.Level, res assert.Result, calls []assert.Call) Result {
	out := Result{
		Scenario: scenario, Clause: res.Clause, Level: level,
		Verdict: res.Verdict, Detail: res.Detail, Witness: Witnesses(res.Witness, calls),
	}
	if kind, err := assert.Kinds.Get(res.Clause); err == nil && res.Verdict == assert.Fail {
		out.Fix = kind.Fix
	}
	return out
}

// Witnesses shows entries as a report does, with the gaps that they have in calls.
func Witnesses(entries []journal.Entry, calls []assert.Call) []Witness {
	wanted := make(map[uint64]bool, len(entries))
	for _, e := range entries {
		wanted[e.Seq] = true
	}
	gaps := make(map[uint64]time.Duration, len(entries))
	for _, c := range calls {
		for i := 1; i < len(c.Attempts); i++ {
			if seq := c.Attempts[i].Seq; wanted[seq] {
				gaps[seq] = c.Gap(i - 1)
			}
		}
	}
	out := make([]Witness, 0, len(entries))
	for _, e := range entries {
		w := Witness{
			Seq: e.Seq, AtMS: Milliseconds(e.At), Client: e.Client, Method: e.Method, Path: e.Path, Status: e.Status,
			Fault: e.Fault, RetryAfter: e.RetryAfter, Cut: e.Cut, Left: e.Gone > 0, Handshake: e.Handshake,
		}
		if gap, ok := gaps[e.Seq]; ok {
			ms := Milliseconds(gap)
			w.GapMS = &ms
		}
		out = append(out, w)
	}
	return out
}

// Milliseconds is d as reports write it, to the microsecond.
func Milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}

// A client that loops makes thousands of retries; the later ones tell nothing new.
const mostRetries = 50

// WaitsOf sums up the waits before the first fifty retries, over all calls of a scenario.
func WaitsOf(scenario string, calls []assert.Call) []Wait {
	summaries := infer.Waits(assert.Chains(calls))
	summaries = summaries[:min(len(summaries), mostRetries)]
	waits := make([]Wait, 0, len(summaries))
	for _, s := range summaries {
		waits = append(waits, Wait{
			Scenario: scenario, Retry: s.Retry, N: s.N,
			MinMS: Milliseconds(s.Min), MedianMS: Milliseconds(s.Median), MaxMS: Milliseconds(s.Max),
		})
	}
	return waits
}
