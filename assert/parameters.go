package assert

import (
	"slices"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// Parameters lists what a contract can say to this clause, with units and defaults: first what it agrees on in its sections
// (attempts.max), then what stands in the clauses section under the clause's id (max).
func (k Kind) Parameters() (all []strict.Setting) {
	for _, j := range judged {
		if j.clause != k.ID {
			continue
		}
		fields := strict.Settings(sectionTypes[j.section])
		at := slices.IndexFunc(fields, func(s strict.Setting) bool { return s.Name == j.field })
		all = append(all, strict.Setting{Name: j.section + "." + j.field, Doc: fields[at].Doc})
	}
	return append(all, strict.Settings(k.example())...)
}

// sectionTypes are the sections of a contract whose fields clauses judge.
var sectionTypes = map[string]any{
	"attempts": Attempts{}, "backoff": Delays{}, "retry-after": RetryAfter{}, "idempotency": Idempotency{}, "limits": Limits{},
	"budget": Budget{}, "breaker": Breaker{}, "hedging": Hedging{}, "poll": Poll{},
}

// example makes the clause, under whichever contract it takes.
func (k Kind) example() Clause {
	c := Strict().finished()
	if clause := k.New(c); clause != nil {
		return clause
	}
	c.Backoff.Jitter = Jitter{Form: JitterFull}
	c.Budget, c.Breaker, c.Hedging, c.Poll = Budget{Ratio: 1}, Breaker{Probes: 1}, Hedging{Max: 2}, Poll{Every: 1}
	return k.New(c)
}
