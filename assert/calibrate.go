package assert

import (
	"slices"
	"strings"

	"github.com/retrygate/retrygate/faultserver/journal"
)

const (
	leastChains = 5 // calls with retries that it takes to tell what a header is for
	leastPairs  = 3 // of them, calls that were not the first of their client: an id of the client changes between clients too
)

// CallHeader finds the header that names calls, in a history whose calls are known and were made while headers were
// calibrated (journal.Sent.Marks): its value is the same in all attempts of each call, and another in each call. A header
// that changes with every attempt, or stays the same between calls, does not, whatever it is called. "" if there is none,
// or if too few calls were retried to tell. Of several the first by name counts.
func CallHeader(calls []Call) string {
	var seen []map[string]string // of each call that can be told from others
	chains, clients := 0, map[string]bool{}
	for i := range calls {
		c := &calls[i]
		if c.Ambiguous || c.Rule == unreadRule {
			continue
		}
		seen = append(seen, commonMarks(c))
		clients[c.Client] = true
		if c.Tries() > 1 {
			chains++
		}
	}
	if chains < leastChains || len(seen)-len(clients) < leastPairs {
		return ""
	}
	names := make([]string, 0, len(seen[0]))
	for name := range seen[0] {
		if distinct(seen, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// commonMarks gives the marks that all attempts of the call have in common, by header.
func commonMarks(c *Call) map[string]string {
	common := marksOf(&c.Attempts[0])
	for i := 1; i < len(c.Attempts); i++ {
		here := marksOf(&c.Attempts[i])
		for name, mark := range common {
			if here[name] != mark {
				delete(common, name)
			}
		}
	}
	return common
}

func marksOf(e *journal.Entry) map[string]string {
	marks := map[string]string{}
	if e.Rare == nil {
		return marks
	}
	for mark := range strings.FieldsSeq(e.Rare.Marks) {
		if name, hash, ok := strings.Cut(mark, "="); ok {
			marks[name] = hash
		}
	}
	return marks
}

// distinct reports whether every call has the header, each with a value of its own.
func distinct(seen []map[string]string, name string) bool {
	values := map[string]bool{}
	for _, marks := range seen {
		mark, ok := marks[name]
		if !ok || values[mark] {
			return false
		}
		values[mark] = true
	}
	return true
}
