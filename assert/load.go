package assert

import (
	"maps"
	"slices"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// LoadContract reads a contract file. What it leaves out comes from its profile (default strict). The error names file,
// line and column of every mistake; file is only used for that. Contradictions are no errors: see Lint.
func LoadContract(file string, data []byte) (*Contract, error) {
	var l loader
	if err := strict.Decode(file, data, &l); err != nil {
		return nil, err
	}
	return l.contract, nil
}

// loader reads a contract in two steps: first the profile it is based on, then the sections over it.
type loader struct {
	contract *Contract
	bare     bool // a profile itself: based on nothing
}

// UnmarshalNode reads the whole file.
func (l *loader) UnmarshalNode(n strict.Node) {
	base := &Contract{Responses: &Responses{}}
	if !l.bare {
		base = Strict()
		if p, ok := n.Field("profile"); ok {
			profile, err := Profiles.Get(p.String())
			if err != nil {
				p.Fail("%v", err)
			} else {
				base = profile.Contract()
			}
		}
		base.Name = ""
	}
	l.contract = base
	base.read(n)
}

// sections is how a contract reads in a file.
type sections struct {
	Name        string
	Profile     string
	Responses   Responses
	Attempts    Attempts
	Backoff     Delays
	RetryAfter  RetryAfter
	Idempotency Idempotency
	Limits      Limits
	Clauses     settings
}

func (c *Contract) read(n strict.Node) {
	s := sections{
		c.Name, c.Profile, *c.Responses, c.Attempts, c.Backoff, c.RetryAfter, c.Idempotency, c.Limits, maps.Clone(c.Clauses),
	}
	n.Decode(&s)
	*c = Contract{
		s.Name, s.Profile, &s.Responses, s.Attempts, s.Backoff, s.RetryAfter, s.Idempotency, s.Limits, s.Clauses, n,
	}
	c.readParameters(n)
}

// readParameters decodes the parameters of clauses once, so that mistakes in them are found with the others.
func (c *Contract) readParameters(n strict.Node) {
	finished := c.finished()
	section := n.At("clauses")
	for _, id := range slices.Sorted(maps.Keys(c.Clauses)) {
		setting := c.Clauses[id]
		if _, here := section.Field(id); !here || len(setting.params) == 0 {
			continue
		}
		kind, err := Kinds.Get(id)
		if err != nil {
			continue
		}
		clause := kind.New(finished)
		if clause == nil {
			section.At(id).Fail("%s has parameters, but no section of this contract switches it on", id)
			continue
		}
		setting.apply(clause)
	}
}
