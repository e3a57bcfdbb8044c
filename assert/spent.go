package assert

import (
	"fmt"
	"slices"
)

// spent finds the first network failure after which the call went on although the table allowed no retry any more: one that
// may not be retried, or the second of a class that may be retried once. -1 if there is none. What statuses allow once is
// judged by special-4xx.
func (t *Responses) spent(c *Call) int {
	var once []NetworkClass // those that were retried already
	for i := range len(c.Attempts) - 1 {
		e, next := &c.Attempts[i], &c.Attempts[i+1]
		if !networkFailure(e) || next.At < endOf(e)-overlap {
			continue
		}
		class := classOf(e)
		switch resolve(t.network[class].Retry, e) {
		case Never:
			return i
		case Once:
			if slices.Contains(once, class) {
				return i
			}
			once = append(once, class)
		}
	}
	return -1
}

func spentText(c *Call, at int, t *Responses) string {
	e := &c.Attempts[at]
	allowed := "never"
	if t.after(e) == Once {
		allowed = "once at most, and this was the second time"
	}
	return fmt.Sprintf("attempt %d came %s after %s (%s); the contract says %s", at+2, span(max(0, c.Gap(at))), after(e), classOf(e), allowed)
}
