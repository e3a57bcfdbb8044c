package assert

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Differences lists how the profile differs from strict, a setting each, as files write them: what it says, and what strict
// says in brackets. Strict itself has none.
func (p Profile) Differences() []string {
	mine, base := p.Contract(), Strict()
	d := differences{}
	d.answers(mine.Responses, base.Responses)
	d.add("attempts.max", count0(mine.Attempts.Max), count0(base.Attempts.Max))
	d.add("attempts.within", bound(mine.Attempts.Within), bound(base.Attempts.Within))
	d.backoff(mine.Backoff, base.Backoff)
	d.add("retry-after.max", bound(mine.RetryAfter.Max), bound(base.RetryAfter.Max))
	d.add("retry-after.longer", mine.RetryAfter.Longer.String(), base.RetryAfter.Longer.String())
	d.add("idempotency.key-header", mine.Idempotency.KeyHeader, base.Idempotency.KeyHeader)
	d.add("idempotency.safe-routes", strings.Join(mine.Idempotency.SafeRoutes, ", "), strings.Join(base.Idempotency.SafeRoutes, ", "))
	d.add("limits.client-rate", fmt.Sprint(mine.Limits.ClientRate), fmt.Sprint(base.Limits.ClientRate))
	for _, id := range slices.Sorted(maps.Keys(mine.Clauses)) {
		d.add("clauses."+id, mine.Clauses[id].word(), base.Clauses[id].word())
	}
	return d.all
}

type differences struct{ all []string }

func (d *differences) add(name, mine, base string) {
	if mine != base {
		d.all = append(d.all, fmt.Sprintf("%s: %s (strict: %s)", name, orNone(mine), orNone(base)))
	}
}

func (d *differences) backoff(mine, base Delays) {
	d.add("backoff.schedule", waitList(mine.Schedule), waitList(base.Schedule))
	d.add("backoff.initial", bound0(mine.Initial), bound0(base.Initial))
	d.add("backoff.multiplier", number0(mine.Multiplier), number0(base.Multiplier))
	d.add("backoff.growth", number0(mine.MinGrowth()), number0(base.MinGrowth()))
	d.add("backoff.max", bound0(mine.Longest()), bound0(base.Longest()))
	d.add("backoff.jitter", mine.Jitter.String(), base.Jitter.String())
}

// answers lists the statuses that change alike together.
func (d *differences) answers(mine, base *Responses) {
	type change struct{ mine, base Response }
	var order []change
	statuses := map[change][]int{}
	for s := minStatus; s <= maxStatus; s++ {
		c := change{mine.Status(s), base.Status(s)}
		if c.mine == c.base {
			continue
		}
		if statuses[c] == nil {
			order = append(order, c)
		}
		statuses[c] = append(statuses[c], s)
	}
	for _, c := range order {
		d.add(ranges(statuses[c]), c.mine.word(), c.base.word())
	}
	for k := range networkClasses {
		d.add(k.String(), mine.Network(k).word(), base.Network(k).word())
	}
}

// word writes a row as files do.
func (r Response) word() string {
	if r.Honour && r.Retry != Never {
		return fmt.Sprintf("%s, retry-after honoured", r.Retry)
	}
	return r.Retry.String()
}

func (s Setting) word() string {
	var words []string
	if s.Off {
		words = append(words, "off")
	}
	if s.Level != nil {
		words = append(words, "level "+s.Level.String())
	}
	for _, n := range s.params {
		for _, pair := range n.Map() {
			value := pair.Value.String()
			if value == "" {
				var list []string
				for _, item := range pair.Value.Seq() {
					list = append(list, item.String())
				}
				value = strings.Join(list, ", ")
			}
			words = append(words, pair.Key.String()+" "+value)
		}
	}
	return strings.Join(words, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func bound(d time.Duration) string {
	if d == 0 {
		return unlimited
	}
	return short(d)
}

func bound0(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return short(d)
}

func count0(n int) string {
	if n == 0 {
		return unlimited
	}
	return strconv.Itoa(n)
}

func number0(f float64) string {
	if f == 0 {
		return ""
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}

func waitList(waits []time.Duration) string {
	words := make([]string, len(waits))
	for i, w := range waits {
		words[i] = short(w)
	}
	return strings.Join(words, ", ")
}
