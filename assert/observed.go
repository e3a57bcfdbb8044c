package assert

import (
	"slices"
	"strconv"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
)

// Observed gives calls as package infer wants them: what was answered, what was retried, what the client was asked to wait.
// Calls that nobody can tell apart, or that their caller cancelled, are left out, as are hedges.
func Observed(calls []Call) []infer.Call {
	ends := endingsOf(calls, 0)
	seen := make([]infer.Call, 0, len(calls))
	for i := range calls {
		c := &calls[i]
		if c.Rule == unreadRule || c.Ambiguous || c.Run.Cancelled > 0 {
			continue
		}
		first := &c.Attempts[0]
		seen = append(seen, infer.Call{
			Client: c.Client, Run: c.Run.id(), Method: first.Method, Keyed: first.Key != "" || first.Precondition,
			Attempts: c.observed(), Over: ends.over(c),
		})
	}
	return seen
}

// observed is the attempts of one call.
func (c *Call) observed() []infer.Attempt {
	list := make([]infer.Attempt, 0, len(c.Attempts))
	for i := range c.Attempts {
		e, step := &c.Attempts[i], c.Step(i)
		if step == StepHedge {
			continue
		}
		a := infer.Attempt{
			At: e.At, End: endOf(e), Answer: strconv.Itoa(e.Status), Network: networkFailure(e), Failed: c.table.fails(e), Retry: step == StepRetry,
			Told: e.RetryAfter != "" && !networkFailure(e),
		}
		if i > 0 {
			a.Untimed = c.Untimed > 0 && i >= c.Untimed
			a.Clock = c.Run.Noise.Clock(c.Attempts[i-1].At, e.At)
		}
		if a.Network {
			a.Answer = classOf(e).String()
		}
		if asked, ok := Asked(*e, c.Run.Began); ok && a.Told {
			a.Asked, a.Date = max(0, asked), e.RetryAfter[0] > '9'
		}
		if e.Open {
			a.Answer = "open"
		}
		list = append(list, a)
	}
	return list
}

// InferOptions is what the runs of the calls say of how far their times can be trusted.
func InferOptions(calls []Call) (o infer.Options) {
	var late, stalls []time.Duration
	for i := range calls {
		n := &calls[i].Run.Noise
		o.Resolution = max(o.Resolution, n.Resolution)
		if calls[i].Untimed == 1 || i > 0 && calls[i].Run == calls[i-1].Run {
			continue
		}
		for _, s := range n.Slices {
			late, stalls = append(late, s.real(s.P50)), append(stalls, s.real(s.P99))
		}
	}
	if len(late) > 0 {
		slices.Sort(late)
		slices.Sort(stalls)
		o.Lateness, o.Stall = max(infer.UsualLateness, late[len(late)/2]), max(1, stalls[len(stalls)/2])
	}
	return o
}
