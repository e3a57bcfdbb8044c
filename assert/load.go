package assert

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// LoadContract reads a contract file. What it leaves out comes from its profile (default strict), its name from the file.
// The error names file, line and column of every mistake. Contradictions are no errors: see Lint.
func LoadContract(file string, data []byte) (*Contract, error) {
	var l loader
	if err := strict.Decode(file, data, &l); err != nil {
		return nil, err
	}
	if l.contract.Name == "" {
		base := filepath.Base(file)
		l.contract.Name = strings.TrimSuffix(base, filepath.Ext(base))
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

// readParameters decodes the parameters of clauses once, so that mistakes in them are found with the others. A setting
// for a clause that does not apply would have no effect, and nobody would notice.
func (c *Contract) readParameters(n strict.Node) {
	finished := c.finished()
	section := n.At("clauses")
	for _, id := range slices.Sorted(maps.Keys(c.Clauses)) {
		place, here := section.Field(id)
		kind, err := Kinds.Get(id)
		if !here || err != nil || c.Clauses[id].Off {
			continue
		}
		clause := kind.New(finished)
		if clause == nil {
			place.Fail("%s is set here, but nothing in this contract switches it on", id)
			continue
		}
		c.Clauses[id].apply(clause)
	}
}
