package assert

import (
	"fmt"
	"strings"
	"time"
)

// Lint lists contradictions: promises that cannot all be kept, or that forbid nothing. Each names the settings that
// disagree and where they stand. A contract without any gives nil.
func (c *Contract) Lint() []string {
	var found []string
	for _, rule := range lintRules {
		if text := rule(c); text != "" {
			found = append(found, text)
		}
	}
	return append(found, c.unused()...)
}

// lintRules give one sentence each, or nothing.
var lintRules = []func(*Contract) string{
	(*Contract).lintTooSlow, (*Contract).lintCapBelowInitial, (*Contract).lintGrowth, (*Contract).lintRetryAfter,
	(*Contract).lintPayload, (*Contract).lintClientRate, (*Contract).lintAmplification,
	(*Contract).lintJitter, (*Contract).lintAdded, (*Contract).lintSchedule, (*Contract).lintNoRetryAfter,
}

// where names a setting and its place: "attempts.max (line 4)".
func (c *Contract) where(section, field string) string {
	s, _ := c.root.Field(section)
	name := strings.TrimSuffix(section+"."+field, ".")
	if f, ok := s.Field(field); ok {
		return fmt.Sprintf("%s (line %d)", name, f.Line())
	}
	for b := c.base; b != nil; b = b.base {
		if b.written(section, field) || b.base == nil {
			return fmt.Sprintf("%s (from profile %s)", name, b.Profile)
		}
	}
	if c.Profile != "" {
		return fmt.Sprintf("%s (profile %s)", name, c.Profile)
	}
	return name
}

// written reports whether the file itself says so. Profiles may hold bounds that overlap; what someone wrote should count.
func (c *Contract) written(section, field string) bool {
	s, _ := c.root.Field(section)
	_, ok := s.Field(field)
	return ok
}

// waits is the least time that the waits before so many retries take.
func (c *Contract) waits(retries int) time.Duration {
	var sum time.Duration
	for k := 1; k <= min(retries, 10_000); k++ {
		if sum += c.Backoff.Floor(k); sum < 0 {
			return maxTime
		}
	}
	return sum
}

func (c *Contract) lintTooSlow() string {
	least := c.waits(c.Attempts.Max - 1)
	if c.Attempts.Within <= 0 || least <= c.Attempts.Within {
		return ""
	}
	return fmt.Sprintf("%s cannot all fit into %s: the waits of %s alone take %s",
		c.where("attempts", "max")+" "+counted(c.Attempts.Max, "attempt", "attempts"), c.where("attempts", "within")+" "+short(c.Attempts.Within),
		c.firstWait(), short(least.Round(time.Millisecond)))
}

func (c *Contract) lintCapBelowInitial() string {
	if c.Backoff.Max <= 0 || c.Backoff.Initial <= c.Backoff.Max {
		return ""
	}
	return fmt.Sprintf("%s %s is longer than %s %s, so that no wait ever grows", c.where("backoff", "initial"), short(c.Backoff.Initial),
		c.where("backoff", "max"), short(c.Backoff.Max))
}

func (c *Contract) lintGrowth() string {
	if c.Backoff.Multiplier < 1 || c.Backoff.Growth <= c.Backoff.Multiplier {
		return ""
	}
	return fmt.Sprintf("%s %v demands more than %s %v gives", c.where("backoff", "growth"), c.Backoff.Growth,
		c.where("backoff", "multiplier"), c.Backoff.Multiplier)
}

func (c *Contract) lintRetryAfter() string {
	if c.Attempts.Within <= 0 || c.RetryAfter.Max <= c.Attempts.Within || !c.written("retry-after", "max") {
		return ""
	}
	return fmt.Sprintf("%s %s is longer than %s %s: who waits that long has no time left to try again", c.where("retry-after", "max"),
		short(c.RetryAfter.Max), c.where("attempts", "within"), short(c.Attempts.Within))
}

func (c *Contract) lintPayload() string {
	rate, retries := c.Limits.IdenticalPayload, c.Attempts.Max-1
	if rate.IsZero() || retries <= rate.N || c.waits(retries) >= rate.Per {
		return ""
	}
	return fmt.Sprintf("%s %s forbids what %s allows: %s of one payload can come within %s", c.where("limits", "identical-payload"), rate,
		c.where("attempts", "max"), counted(retries, "retry", "retries"), short(rate.Per))
}

func (c *Contract) lintClientRate() string {
	for _, rate := range c.Limits.ClientRate {
		if c.Attempts.Max > rate.N && c.waits(c.Attempts.Max-1) < rate.Per {
			return fmt.Sprintf("%s %s forbids what %s allows: one call can send %s within %s", c.where("limits", "client-rate"), rate,
				c.where("attempts", "max"), counted(c.Attempts.Max, "request", "requests"), short(rate.Per))
		}
	}
	return ""
}

// firstWait names what the waits begin with.
func (c *Contract) firstWait() string {
	if len(c.Backoff.Schedule) > 0 {
		return c.where("backoff", "schedule")
	}
	return c.where("backoff", "initial") + " " + short(c.Backoff.Initial)
}

// lintAdded finds jitter that is longer than the wait that it is added to.
func (c *Contract) lintAdded() string {
	b, first := c.Backoff, c.Backoff.Delay(1)
	if b.Jitter.Form != JitterAdditive || first <= 0 || b.Jitter.Add <= first {
		return ""
	}
	return fmt.Sprintf("%s %s is wider than the first wait, %s: chance decides how long clients wait, not backoff",
		c.where("backoff", "jitter"), b.Jitter, c.firstWait())
}

// lintSchedule finds waits that get shorter and waits that no attempt comes to.
func (c *Contract) lintSchedule() string {
	waits := c.Backoff.Schedule
	for k := 1; k < len(waits); k++ {
		if waits[k] < waits[k-1] {
			return fmt.Sprintf("%s shrinks from %s to %s: a server that is still down gets more load, not less",
				c.where("backoff", "schedule"), short(waits[k-1]), short(waits[k]))
		}
	}
	if n := c.Attempts.Max; n > 0 && n-1 < len(waits) {
		return fmt.Sprintf("%s lists %s, but %s %d leaves room for %d", c.where("backoff", "schedule"), counted(len(waits), "wait", "waits"),
			c.where("attempts", "max"), n, n-1)
	}
	return ""
}

// lintNoRetryAfter finds a bound of zero, which bounds nothing.
func (c *Contract) lintNoRetryAfter() string {
	section, _ := c.root.Field("retry-after")
	if f, ok := section.Field("max"); !ok || c.RetryAfter.Max != 0 || f.String() == unlimited {
		return ""
	}
	return c.where("retry-after", "max") + " 0s contradicts every answer whose Retry-After is to be honoured; for no bound write unlimited, " +
		"and to leave the header alone write retry-after: ignore in responses"
}

func (c *Contract) lintAmplification() string {
	if a := c.Limits.Amplification; a > 0 && a < float64(c.Attempts.Max) {
		return fmt.Sprintf("%s %v forbids what %s %d allows: during an outage each call makes all its attempts", c.where("limits", "amplification"), a,
			c.where("attempts", "max"), c.Attempts.Max)
	}
	if c.Attempts.Max == 0 || c.Limits.Amplification <= float64(c.Attempts.Max) {
		return ""
	}
	return fmt.Sprintf("%s %v forbids nothing: %s lets no call send more than %d", c.where("limits", "amplification"), c.Limits.Amplification,
		c.where("attempts", "max"), c.Attempts.Max)
}

// lintJitter finds jitter that no run can tell from none. Twice the noise is needed: some waits are left out, and few lie
// at the ends.
func (c *Contract) lintJitter() string {
	b, widest := c.Backoff, time.Duration(0)
	if c.Clauses["jitter-present"].Off || !b.Jitter.Required() || b.Jitter.Form == JitterAny || c.Attempts.Max == 1 ||
		b.Initial == 0 && b.Jitter.Form != JitterAdditive {
		return ""
	}
	retries := growthGaps
	if c.Attempts.Max > 1 {
		retries = min(retries, c.Attempts.Max-1)
	}
	for k := 1; k <= retries; k++ {
		delay := b.Delay(k)
		widest = max(widest, b.Jitter.Ceiling(delay)-b.Jitter.Floor(delay))
	}
	if widest >= 2*noiseFloor {
		return ""
	}
	return fmt.Sprintf("%s %s cannot be shown: it draws waits apart by %s at most, and a machine alone does so by %s; agree on %s or more, "+
		"or switch jitter-present off", c.where("backoff", "jitter"), b.Jitter, short(widest), short(noiseFloor), short(2*noiseFloor))
}

// judged says which clause checks a setting.
var judged = []struct{ section, field, clause string }{
	{"attempts", "max", "retry-cap"}, {"attempts", "within", "total-deadline"}, {"backoff", "initial", "min-spacing"},
	{"backoff", "multiplier", "backoff-growth"}, {"backoff", "growth", "backoff-growth"}, {"backoff", "max", "delay-cap"},
	{"backoff", "jitter", "jitter-present"}, {"backoff", "schedule", "backoff-growth"}, {"idempotency", "key-header", "idempotency-key-stable"}, {"limits", "client-rate", "client-rate"},
	{"limits", "identical-payload", "identical-payload-rate"}, {"limits", "amplification", "amplification-factor"},
	{"budget", "ratio", "retry-budget-ratio"}, {"budget", "reserve", "retry-budget-ratio"}, {"budget", "over", "retry-budget-ratio"},
	{"breaker", "failures", "circuit-breaker"}, {"breaker", "open", "circuit-breaker"}, {"breaker", "probes", "circuit-breaker"},
	{"hedging", "after", "hedge-bounded"}, {"hedging", "max", "hedge-bounded"}, {"hedging", "share", "hedge-bounded"},
	{"poll", "every", "poll-cadence"},
}

// unused finds settings of the file whose clause the same file switches off.
func (c *Contract) unused() []string {
	var found []string
	for _, j := range judged {
		if c.Clauses[j.clause].Off && c.written(j.section, j.field) && c.written("clauses", j.clause) {
			found = append(found, fmt.Sprintf("%s is agreed, but %s switches off the clause that checks it",
				c.where(j.section, j.field), c.where("clauses", j.clause)))
		}
	}
	return found
}
