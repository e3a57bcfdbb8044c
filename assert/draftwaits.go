package assert

import (
	"fmt"
	"math"
	"strings"

	"github.com/retrygate/retrygate/assert/infer"
)

// backoffSettings says the waits that were seen as a contract does: a multiplier where there is one, a schedule for every
// other curve, and nothing where the growth is open.
func backoffSettings(p infer.Policy) []setting {
	b := p.Backoff
	g := b.Growth
	switch {
	case b.Waits == 0 || !g.Decided || p.Other != nil || g.FirstZero || g.Family == "immediate" || g.Family == "layers":
		return nil
	case g.Family == "decorrelated":
		return withMax([]setting{{"initial", lengthOf(b.Initial.Low)}, {"jitter", "decorrelated"}}, b)
	case g.Family == "constant":
		return append([]setting{{"initial", lengthOf(firstOf(b))}, {"multiplier", "1"}, {"max", roundUp(firstOf(b))}}, jitterSetting(b)...)
	case g.Multiplier > 0:
		return append(withMax([]setting{{"initial", lengthOf(firstOf(b))}, {"multiplier", fmt.Sprint(math.Floor(g.Multiplier*100) / 100)}}, b), jitterSetting(b)...)
	}
	schedule := scheduleOf(p)
	if len(schedule) == 0 {
		return nil
	}
	return append([]setting{{"schedule", "[" + strings.Join(schedule, ", ") + "]"}}, jitterSetting(b)...)
}

// firstOf is the first wait without jitter, as short as the estimate allows unless it is a round one.
func firstOf(b infer.Backoff) float64 {
	if v := b.Initial.Value; b.Jitter.Decided && (b.Jitter.Kind == infer.JitterNone || v == math.Round(v/10)*10) {
		return v
	}
	return b.Initial.Low
}

// scheduleOf lists the waits before as many retries as were seen.
func scheduleOf(p infer.Policy) (waits []string) {
	n := p.Backoff.Retries
	if p.Attempts.Max > 1 {
		n = min(n, p.Attempts.Max-1)
	}
	for k := 1; k <= min(n, mostScheduled); k++ {
		wait, ok := p.Backoff.Wait(k)
		if !ok || wait < 1 {
			return nil
		}
		waits = append(waits, lengthOf(wait))
	}
	return waits
}

// withMax adds the longest wait: the limit that was reached, else that of the last retry that was seen.
func withMax(settings []setting, b infer.Backoff) []setting {
	longest := b.Longest
	if wait, ok := b.Wait(b.Retries); ok && b.Jitter.Kind != infer.JitterDecorrelated {
		longest = wait
	}
	if b.Max != nil {
		longest = b.Max.Value
	}
	return append(settings, setting{"max", roundUp(longest)})
}

// jitterSetting says the form of jitter, a little wider than it was seen: more waits would show more of it.
func jitterSetting(b infer.Backoff) []setting {
	x := b.Jitter
	switch {
	case !x.Decided:
		return nil
	case x.Kind == infer.JitterProportional:
		share := x.Proportion
		if first := firstOf(b); first > 0 && b.To > 0 {
			share = max(share, 1-0.98*b.From/first, 1.02*b.To/first-1)
		}
		return []setting{{"jitter", fmt.Sprintf("{proportional: %v}", math.Min(1, math.Ceil(share*100-1e-9)/100))}}
	case x.Kind == infer.JitterAdditive:
		return []setting{{"jitter", "{additive: " + roundUp(x.Added) + "}"}}
	default:
		return []setting{{"jitter", string(x.Kind)}}
	}
}
