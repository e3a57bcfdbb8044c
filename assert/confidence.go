package assert

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Confidence is how sure it is that the requests of a call belong together, and no others.
type Confidence uint8

// The confidences.
const (
	Ambiguous Confidence = iota + 1 // another call could have owned one of the requests, or none could be read
	Guessed                         // equal requests, each sent soon after the one before had failed
	Strong                          // and they carry one trace id
	Exact                           // the driver or the requests themselves say so
)

var confidenceNames = [...]string{"", "ambiguous", "guessed", "strong", "exact"}

// String gives the word that reports use.
func (c Confidence) String() string { return confidenceNames[c] }

// MarshalText gives the word that reports use.
func (c Confidence) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the word that reports use.
func (c *Confidence) UnmarshalText(text []byte) error {
	at := slices.Index(confidenceNames[:], string(text))
	if at < 1 {
		return fmt.Errorf("unknown confidence %q%s", text, registry.Suggest(string(text), confidenceNames[1:]))
	}
	*c = Confidence(at)
	return nil
}

// Confidence tells how sure the grouping is.
func (c *Call) Confidence() Confidence {
	switch {
	case c.Ambiguous || c.Rule == unreadRule:
		return Ambiguous
	case c.Rule == matchRule:
		return Guessed
	case c.Rule == traceRule:
		return Strong
	default:
		return Exact
	}
}

// Grouping counts the calls that were told apart in one way.
type Grouping struct {
	Rule       string     `json:"rule"`
	By         string     `json:"by,omitempty"` // the header
	Confidence Confidence `json:"confidence"`
	Calls      int        `json:"calls"`
}

// ruleTexts says what each rule goes by.
var ruleTexts = map[string]string{
	driverRule: "the driver, which makes one call for each client",
	idRule:     "a call id that the requests carry",
	keyRule:    "the idempotency key",
	traceRule:  "the trace id of equal requests",
	matchRule:  "equal requests, each soon after a failure",
	unreadRule: "the connection: no request was read",
}

// String says in words what told the calls apart, and how surely.
func (g Grouping) String() string {
	return cmp.Or(g.By, ruleTexts[g.Rule]) + " (" + g.Confidence.String() + ")"
}

// Groupings sums up how the calls were told apart, the most frequent way first.
func Groupings(calls []Call) []Grouping {
	counts := map[Grouping]int{}
	for i := range calls {
		c := &calls[i]
		counts[Grouping{Rule: c.Rule, By: c.By, Confidence: c.Confidence()}]++
	}
	list := make([]Grouping, 0, len(counts))
	for g, n := range counts {
		g.Calls = n
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b Grouping) int {
		return cmp.Or(-cmp.Compare(a.Calls, b.Calls), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.By, b.By), -cmp.Compare(a.Confidence, b.Confidence))
	})
	return list
}

// Uncharged counts what was recognised and not charged as a retry: steps, parts and changes by the words that name them.
func Uncharged(calls []Call) map[string]int {
	counts := map[string]int{}
	for i := range calls {
		c := &calls[i]
		for k := range c.Attempts {
			if s := c.Step(k); s > StepRetry {
				counts[s.String()]++
			}
		}
		for _, p := range c.Parts {
			counts[p.Kind.String()]++
		}
		if c.Changed != "" {
			counts[string(c.Changed)]++
		}
	}
	return counts
}
