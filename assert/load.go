package assert

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	profile  string // the name of the profile that this is itself; "" for a contract
}

// UnmarshalNode reads the whole file. Only the profile strict is based on nothing.
func (l *loader) UnmarshalNode(n strict.Node) {
	l.contract = &Contract{Responses: &Responses{}}
	if l.profile != strictName {
		base := l.basedOn(n)
		l.contract = base.Contract()
		l.contract.base = base.parsed()
		l.contract.Name, l.contract.Summary, l.contract.AsOf, l.contract.Sources = "", "", "", nil
	}
	l.contract.read(n)
}

// basedOn finds the profile that the file names, strict if none.
func (l *loader) basedOn(n strict.Node) Profile {
	base, _ := Profiles.Get(strictName)
	p, ok := n.Field("profile")
	if !ok {
		return base
	}
	named, err := Profiles.Get(p.String())
	switch {
	case err != nil:
		p.Fail("%v", err)
	case l.profile != "" && named.Name != strictName:
		p.Fail("a profile is based on %s or on nothing", strictName)
	default:
		return named
	}
	return base
}

// sections is how a contract reads in a file.
type sections struct {
	Name        string      `doc:"what the contract is called in reports; default the file's name"`
	Summary     string      `doc:"one line on what it is for"`
	AsOf        asOf        `doc:"when it was last looked at, as in 2026-11 or 2026-11-30"`
	Sources     []string    `doc:"what its values were read in"`
	Profile     string      `doc:"what is left out comes from this profile; default strict"`
	Responses   Responses   `doc:"after which answer a client tries again"`
	Attempts    Attempts    `doc:"attempts and time that one call may take"`
	Backoff     Delays      `doc:"the waits that a client chooses by itself"`
	RetryAfter  RetryAfter  `doc:"what a client does with the wait that an answer asks for"`
	Idempotency Idempotency `doc:"which requests may be sent twice"`
	Limits      Limits      `doc:"what the server sees of one client"`
	Budget      Budget      `doc:"retries that all calls of a client may make between them, usually 10 %"`
	Breaker     Breaker     `doc:"when a client stops calling a server that fails"`
	Hedging     Hedging     `doc:"when a client may send a copy of a request that is under way"`
	Poll        Poll        `doc:"how often a client asks by itself"`
	Clauses     settings    `doc:"single clauses: on, off, level or parameters"`
}

func (c *Contract) read(n strict.Node) {
	s := sections{
		c.Name, c.Summary, asOf(c.AsOf), c.Sources, c.Profile, *c.Responses, c.Attempts, c.Backoff, c.RetryAfter, c.Idempotency,
		c.Limits, c.Budget, c.Breaker, c.Hedging, c.Poll, maps.Clone(c.Clauses),
	}
	n.Decode(&s)
	*c = Contract{
		s.Name, s.Profile, s.Summary, string(s.AsOf), s.Sources, &s.Responses, s.Attempts, s.Backoff, s.RetryAfter, s.Idempotency,
		s.Limits, s.Budget, s.Breaker, s.Hedging, s.Poll, s.Clauses, n, c.base,
	}
	c.readParameters(n)
}

// asOf is a month or a day.
type asOf string

// UnmarshalText reads 2026-11 or 2026-11-30.
func (a *asOf) UnmarshalText(text []byte) error {
	for _, form := range []string{"2006-01", time.DateOnly} {
		if _, err := time.Parse(form, string(text)); err == nil {
			*a = asOf(text)
			return nil
		}
	}
	return fmt.Errorf("%q is no date; want a month or a day, as in 2026-11 or 2026-11-30", text)
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
		clause := kind.of(finished)
		if clause == nil {
			place.Fail("%s is set here, but nothing in this contract switches it on", id)
			continue
		}
		c.Clauses[id].apply(clause)
	}
}
