package assert

import (
	"fmt"
	"strings"
	"time"
)

// docNumbers writes the agreed numbers in sentences, only those that the contract has.
func (c *Contract) docNumbers(b *strings.Builder) {
	var lines []string
	add := func(line string) {
		if line != "" {
			lines = append(lines, line)
		}
	}
	add(c.Attempts.sentence())
	add(c.Backoff.sentence(c.Attempts.Max))
	add(c.RetryAfter.sentence(c.Attempts.Within))
	add(c.Idempotency.sentence())
	add(c.Limits.sentence())
	add(c.Budget.sentence())
	add(c.Breaker.sentence())
	add(c.Hedging.sentence())
	add(c.Poll.sentence())
	b.WriteString("## The numbers\n\n")
	for _, line := range lines {
		b.WriteString("- " + line + "\n")
	}
	b.WriteString("\n")
}

func (a Attempts) sentence() string {
	within := ""
	switch {
	case a.Within > 0 && a.Max > 0:
		within = fmt.Sprintf(" All of them end within **%s** of the first one's start.", spoken(a.Within))
	case a.Within > 0:
		within = fmt.Sprintf("One call makes as many attempts as it likes, but all of them end within **%s** of the first one's start.", spoken(a.Within))
	}
	switch {
	case a.Max == 1:
		return "One call makes **one attempt**: nothing is retried." + within
	case a.Max > 1:
		return fmt.Sprintf("One call makes at most **%d attempts**: the first one and %s.%s", a.Max, counted(a.Max-1, "retry", "retries"), within)
	default:
		return within
	}
}

func (d Delays) sentence(attempts int) string {
	var parts []string
	if d.Initial > 0 {
		parts = append(parts, fmt.Sprintf("The delay before the first retry is **%s**.", spoken(d.Initial)))
	}
	if n := len(d.Schedule); n > 0 {
		parts = append(parts, fmt.Sprintf("The client waits by a schedule of **%s**, from **%s** to **%s**.", counted(n, "wait", "waits"),
			spoken(d.Schedule[0]), spoken(d.Schedule[n-1])))
	} else if d.Multiplier > 1 {
		parts = append(parts, fmt.Sprintf("Each further delay is **%v times** the one before.", d.Multiplier))
	} else if g := d.MinGrowth(); g > 1 {
		parts = append(parts, fmt.Sprintf("Waits grow from retry to retry, by a factor of %v on average or more.", g))
	} else if g == 1 {
		parts = append(parts, "Waits need not grow, but do not shrink from retry to retry.")
	}
	if d.Max > 0 {
		parts = append(parts, fmt.Sprintf("No wait that the client chooses is longer than **%s**.", spoken(d.Max)))
	}
	parts = append(parts, d.Jitter.sentence())
	if d.fixed() && attempts != 1 {
		retries := attempts - 1
		if attempts == 0 {
			retries = 1000 // no bound: the table says so
		}
		parts = append(parts, d.table(retries))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// table lists the shortest and longest lawful waits, the first eight at most.
func (d Delays) table(retries int) string {
	var waits []string
	for k := 1; k <= min(retries, 8); k++ {
		low, high := d.Floor(k), d.Ceiling(k)
		switch low {
		case high:
			waits = append(waits, spoken(low))
		case 0:
			waits = append(waits, "up to "+spoken(high))
		default:
			waits = append(waits, spoken(low)+" to "+spoken(high))
		}
	}
	more := ", then the client gives up"
	if retries > len(waits) {
		more = ", and so on"
	}
	return "The waits are therefore " + strings.Join(waits, ", ") + more + "."
}

func (j Jitter) sentence() string {
	switch j.Form {
	case JitterAny:
		return "Waits are **randomised**, in whatever form, so that clients that failed together do not return together."
	case JitterNone:
		return "Waits are not randomised."
	case JitterFull:
		return "Waits are **randomised** between zero and the delay."
	case JitterEqual:
		return "Waits are **randomised** between half the delay and all of it."
	case JitterProportional:
		return fmt.Sprintf("Waits are **randomised** by up to %v %% either way.", j.Proportion*100)
	case JitterDecorrelated:
		return "Waits are **randomised** between the initial one and three times the one before."
	case JitterAdditive:
		return fmt.Sprintf("Up to **%s** is added to each wait at random.", spoken(j.Add))
	default:
		return ""
	}
}

func (r RetryAfter) sentence(within time.Duration) string {
	if r.Max <= 0 {
		return "`Retry-After` is obeyed, however long it asks to wait."
	}
	longer := map[Longer]string{
		GiveUp: "the client gives up", WaitMax: "the client waits that long and tries again",
		EitherWay: "the client gives up, or waits that long at least",
	}[r.Longer]
	text := fmt.Sprintf("`Retry-After` is obeyed up to **%s**; when asked to wait longer, %s.", spoken(r.Max), longer)
	if within > 0 && within < r.Max {
		text += fmt.Sprintf(" A wait that does not fit into the call's %s ends the call.", spoken(within))
	}
	return text
}

func (i Idempotency) sentence() string {
	key := "an idempotency key"
	if i.KeyHeader != "" {
		key = "an idempotency key (`" + i.KeyHeader + "`)"
	}
	text := "A request that may have been processed is repeated only if its method is idempotent (GET, HEAD, OPTIONS, TRACE, PUT, DELETE) " +
		"or it carries " + key + " or a precondition such as `If-Match`; a key is the same on every attempt."
	if len(i.SafeRoutes) > 0 {
		text += " Safe to repeat without one: `" + strings.Join(i.SafeRoutes, "`, `") + "`."
	}
	return text
}

func (l Limits) sentence() string {
	var parts []string
	if len(l.ClientRate) > 0 {
		rates := make([]string, len(l.ClientRate))
		for i, r := range l.ClientRate {
			rates[i] = fmt.Sprintf("**%d in %s**", r.N, spoken(r.Per))
		}
		parts = append(parts, "Requests of one client to one endpoint, whatever is answered: at most "+strings.Join(rates, ", and at most ")+".")
	}
	if !l.IdenticalPayload.IsZero() {
		parts = append(parts, fmt.Sprintf("One failed payload is repeated at most **%s in %s**.",
			counted(l.IdenticalPayload.N, "time", "times"), spoken(l.IdenticalPayload.Per)))
	}
	if l.Amplification > 0 {
		parts = append(parts, fmt.Sprintf("During an outage the server sees at most **%v requests for each call**.", l.Amplification))
	}
	return strings.Join(parts, " ")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
