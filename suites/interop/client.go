package interop

import (
	"slices"
	"strings"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// clientSuffix ends the name of the file that makes a client known.
const clientSuffix = ".expected.yaml"

// Client is a client library or program in one way of use, and what its source or documentation says that it does. That was
// written down before it was first run.
type Client struct {
	Name      string   `yaml:"client"`     // as people call it
	Use       string   `yaml:"use"`        // how it is used here, where that is not its bare defaults
	Package   string   `yaml:"package"`    // as the language's lock calls it; "": a program of the machine
	Version   string   `yaml:"version"`    // that was read and is pinned
	VersionOf []string `yaml:"version-of"` // for a program of the machine: prints its version
	Command   []string `yaml:"command"`    // in place of the language's
	Sources   []string `yaml:"sources"`    // where what follows was read, at that version
	Policy    string   `yaml:"policy"`     // the retry policy, in words
	Wire      []Wire   `yaml:"wire"`       // each case once
	Contract  Promises `yaml:"contract"`
	Unjudged  string   `yaml:"unjudged"` // why the contract does not judge it; "": it does
	Findings  []string `yaml:"findings"` // what was found where fixture and run differed, and which of client, fixture and harness was wrong

	ID       string `yaml:"-"` // the file's name without its end
	Language string `yaml:"-"` // the folder's name
}

// Wire is what is seen on the wire in some cases.
type Wire struct {
	On       []Word  `yaml:"on"`       // names of cases
	Requests Count   `yaml:"requests"` // with those that the transport repeats
	Resent   int     `yaml:"resent"`   // of the requests, those that the transport repeats
	Gaps     []Bound `yaml:"gaps"`     // from the end of one attempt to the arrival of the next, as far as they are told
	Because  string  `yaml:"because"`
}

// Promises are the clauses of the strict contract that the client does not keep.
type Promises struct {
	Breaks []string          `yaml:"breaks"` // without any way to keep it, or against what it could do by itself
	Caller map[string]string `yaml:"caller"` // left to the caller, and how the caller keeps it
	Chance map[string]string `yaml:"chance"` // broken or kept as the machine or chance will have it, and why
}

// Word is a word or number, such as the name of a case.
type Word string

// UnmarshalText takes any word.
func (w *Word) UnmarshalText(text []byte) error {
	*w = Word(text)
	return nil
}

// Validate finds what does not fit together.
func (c *Client) Validate(n strict.Node) {
	if (c.Package == "") == (len(c.VersionOf) == 0) && !n.Failed() {
		n.Fail("say either package or version-of")
	}
	if len(c.Sources) == 0 || c.Policy == "" || c.Name == "" {
		n.Fail("client, policy and sources must be said")
	}
	seen := map[Word]bool{}
	for _, w := range c.Wire {
		for _, on := range w.On {
			if _, err := CaseOf(string(on)); err != nil {
				n.Fail("%v", err)
			}
			if seen[on] {
				n.Fail("case %s is there twice", on)
			}
			seen[on] = true
		}
	}
	for _, known := range Cases() {
		if !seen[Word(known.Name)] {
			n.Fail("nothing is said of case %s", known.Name)
		}
	}
	for _, id := range c.Contract.ids() {
		if _, err := assert.Kinds.Get(id); err != nil {
			n.Fail("%v", err)
		}
	}
}

// ids are all clauses that are named.
func (p Promises) ids() []string {
	all := slices.Clone(p.Breaks)
	for id := range p.Caller {
		all = append(all, id)
	}
	for id := range p.Chance {
		all = append(all, id)
	}
	return all
}

// expected is what is said of a case.
func (c Client) expected(name string) Wire {
	for _, w := range c.Wire {
		if slices.Contains(w.On, Word(name)) {
			return w
		}
	}
	return Wire{}
}

// Title is the client's name with how it is used.
func (c Client) Title() string {
	if c.Use == "" {
		return c.Name
	}
	return c.Name + ", " + strings.TrimSpace(c.Use)
}
