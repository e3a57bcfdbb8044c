package infer

import (
	"fmt"
	"slices"
	"strings"
)

// Sentence tells the policy in one sentence. What the evidence leaves open it calls so.
func (p Policy) Sentence() string {
	if p.Calls == 0 {
		return "no calls were seen, so nothing is known"
	}
	parts := []string{p.attemptsText()}
	if p.Backoff.Waits > 0 {
		parts = append(parts, p.waitsText())
	}
	for _, text := range [...]string{p.answersText(), p.methodsText(), p.RetryAfter.text(), p.protectionText()} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

func (p Policy) attemptsText() string {
	a := p.Attempts
	switch {
	case a.Within != nil:
		return fmt.Sprintf("goes on for about %s, however many attempts that takes (%d at most were seen)", span(a.Within.Value), a.Seen)
	case a.Max == 1 && a.Decided:
		return "does not retry"
	case p.Retried == 0:
		return "was not seen to retry"
	case a.Max > 0 && a.Decided:
		return fmt.Sprintf("tries a call %s at most", plural(a.Max, "time", "times"))
	case a.Endless:
		return fmt.Sprintf("sent %d attempts of one call and no end was seen", a.Seen)
	case a.Max > 0:
		return fmt.Sprintf("tries a call about %s, which is not certain", plural(max(a.Max, a.Seen), "time", "times"))
	default:
		return fmt.Sprintf("tries a call %s or more", plural(a.Seen, "time", "times"))
	}
}

func (p Policy) waitsText() string {
	text := p.Backoff.text()
	if p.Other == nil {
		return text
	}
	here, there := "after statuses", "after network failures"
	if p.After == "network" {
		here, there = there, here
	}
	return here + " " + text + "; " + there + " " + p.Other.text()
}

// text tells the waits: how long, how they grow, how far they spread.
func (b Backoff) text() string {
	g := b.Growth
	switch {
	case g.Family == immediate.Name:
		return "comes back at once, without a wait"
	case g.Family == layers.Name && g.Layers != nil:
		return fmt.Sprintf("retries in two layers: %s with %s between them, then %s (%s) before the next ones",
			plural(g.Layers.Attempts, "attempt", "attempts"), layerText(g.Layers.Inner, g.Layers.InnerMS), spanRange(g.Layers.OuterMS.Value, g.Layers.OuterMS.High), g.Layers.Outer)
	case g.Family == list.Name:
		return b.scheduleText() + b.jitterText()
	case g.Family == unknownFamily:
		return fmt.Sprintf("waits %s, in a pattern of no family that is known", spanRange(b.First.Low, b.Longest))
	case g.Family == Undecided:
		return b.openText()
	}
	text := "waits " + b.firstText()
	if g.FirstZero {
		text = "comes back at once the first time, then waits " + b.firstText()
	}
	text += growthTexts[g.Family]
	if g.Family == exponential.Name {
		text += fmt.Sprintf(", growing %v-fold each time", g.Multiplier)
	}
	if g.Family == power.Name {
		text += fmt.Sprintf(", growing with the power of %d of the retry", g.Exponent)
	}
	if b.Max != nil {
		text += ", up to " + span(b.Max.Value)
	}
	return text + b.jitterText()
}

// growthTexts continue "waits 1 s".
var growthTexts = map[string]string{
	"constant":            " each time",
	"linear":              ", growing by as much each time (linear)",
	"quadratic":           ", growing with the square of the retry",
	"quadratic plus one":  ", growing with one more than the square of the retries made",
	"fibonacci":           ", growing as Fibonacci numbers do (1, 2, 3, 5)",
	"fibonacci from 1, 1": ", growing as Fibonacci numbers do (1, 1, 2, 3)",
	"2^k-1":               ", growing as 2^k-1 does (1, 3, 7)",
	"decorrelated":        " at least and up to three times the wait before",
	"exponential":         "",
	"power":               "",
}

func (b Backoff) firstText() string {
	if b.Initial == nil {
		return span(b.First.Value)
	}
	return span(b.Initial.Value)
}

func layerText(family string, r Range) string {
	if family == immediate.Name {
		return "no wait"
	}
	return spanRange(r.Low, r.High)
}

func (b Backoff) scheduleText() string {
	g := b.Growth
	waits := make([]string, 0, len(g.Schedule))
	for i, w := range g.Schedule {
		if i == 10 {
			waits = append(waits, "...")
			break
		}
		waits = append(waits, span(w))
	}
	text := "waits by a list: " + strings.Join(waits, ", ")
	if len(g.Named) > 0 {
		text += " (as " + listed(g.Named, "or") + ")"
	}
	return text
}

// openText tells what is seen where no family can be named.
func (b Backoff) openText() string {
	text := fmt.Sprintf("waits %s before the first retry", spanRange(b.First.Low, b.First.High))
	if b.Retries > 1 {
		text += fmt.Sprintf(" and %s at most", span(b.Longest))
	}
	if len(b.Growth.Candidates) == 0 {
		return text + ", growing in a way that is open (" + b.Growth.Needs + ")"
	}
	return text + fmt.Sprintf(", growing in a way that is open (%s: %s)", candidateNames(b.Growth.Candidates), b.Growth.Needs) + b.jitterText()
}

func (b Backoff) jitterText() string {
	x := b.Jitter
	switch x.Kind {
	case JitterNone:
		return ", without jitter"
	case JitterFull:
		return ", with full jitter (from 0 to all of it)"
	case JitterEqual:
		return ", with equal jitter (from half to all of it)"
	case JitterProportional:
		return fmt.Sprintf(", with jitter of %v %% either way", digits(100*x.Proportion))
	case JitterAdditive:
		return fmt.Sprintf(", with up to %s added", span(x.Added))
	case JitterDecorrelated:
		return " (decorrelated jitter)"
	}
	if len(x.Candidates) == 0 {
		return ""
	}
	return ", jitter open (" + candidateNames(x.Candidates) + ": " + x.Needs + ")"
}

func (p Policy) answersText() string {
	if p.Retried == 0 {
		return ""
	}
	var parts []string
	add := func(format string, v Verdict, last string) {
		if names := p.names(v); len(names) > 0 {
			parts = append(parts, fmt.Sprintf(format, listed(names, last)))
		}
	}
	add("retries %s", Retried, "and")
	add("%s once", Once, "and")
	add("%s only with Retry-After", WithRetryAfter, "and")
	add("%s sometimes", Sometimes, "and")
	add("not %s", NotRetried, "or")
	if len(p.names(Retried)) == 0 && len(parts) > 0 {
		return "retries " + strings.Join(parts, ", ")
	}
	return strings.Join(parts, ", ")
}

func (p Policy) methodsText() string {
	again, keyed, never := p.methodNames(Retried), p.methodNames(WithKey), p.methodNames(NotRetried)
	var parts []string
	if len(again) > 0 {
		parts = append(parts, "sends "+listed(again, "and")+" again")
	}
	if len(keyed) > 0 {
		parts = append(parts, listed(keyed, "and")+" only under an idempotency key")
	}
	if len(never) > 0 {
		parts = append(parts, "never "+listed(never, "or"))
	}
	return strings.Join(parts, ", ")
}

func (r RetryAfter) text() string {
	where := ""
	if len(r.Ignored) > 0 {
		where = fmt.Sprintf(" on %s and ignores it on %s", listed(r.Statuses, "and"), listed(r.Ignored, "and"))
	}
	var text string
	switch r.Verdict {
	case HeedUnseen:
		return ""
	case HeedKept:
		text = fmt.Sprintf("keeps Retry-After%s (up to %s was asked)", where, span(r.KeptUpTo))
	case HeedCapped:
		text = fmt.Sprintf("keeps Retry-After%s up to %s and waits no longer", where, span(r.Cap.Value))
	case HeedIgnored:
		return "ignores Retry-After"
	case HeedGivesUp:
		return "gives up where an answer asks for a wait"
	default:
		text = "keeps Retry-After" + where + " sometimes only"
	}
	if r.GivesUp != nil {
		text += fmt.Sprintf(", gives up when asked for %s", span(r.GivesUp.High))
	}
	return text
}

func (p Policy) protectionText() string {
	var parts []string
	if b := p.Budget; b != nil {
		parts = append(parts, fmt.Sprintf("spends a budget: %v retries for each call in the long run", b.Ratio))
	}
	if b := p.Breaker; b != nil {
		parts = append(parts, fmt.Sprintf("opens a breaker after %s, for %s", plural(b.Failures, "failure", "failures"), span(b.Open.Value)))
	}
	return strings.Join(parts, "; ")
}

// Open lists what is not decided, each with what would decide it.
func (p Policy) Open() []string {
	var all []string
	add := func(what, candidates, needs string) {
		if needs == "" {
			return
		}
		text := what + ": "
		if candidates != "" {
			text += candidates + "; "
		}
		if all = append(all, text+needs); len(all) > 1 {
			all = slices.Compact(all)
		}
	}
	add("attempts", "", p.Attempts.Needs)
	add("growth", candidateNames(p.Backoff.Growth.Candidates), p.Backoff.Growth.Needs)
	add("jitter", candidateNames(p.Backoff.Jitter.Candidates), p.Backoff.Jitter.Needs)
	return all
}
