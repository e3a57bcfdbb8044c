// Package scenarios holds the faults as data: each file is a plan with a purpose and the clauses that it puts to the test.
package scenarios

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// Scenario is one disturbance of a client's world, and what is to be learnt from it.
type Scenario struct {
	Name    string `yaml:"name"`    // kebab-case
	Summary string `yaml:"summary"` // one line: what happens
	Why     string `yaml:"why"`     // what it is good for, and where it comes from

	Judges  []string      `yaml:"judges"`  // ids of the clauses that it exercises
	Clients int           `yaml:"clients"` // how many clients it wants, each with one call and an address of its own; default 1
	Limit   time.Duration `yaml:"limit"`   // longest time that one client may take; 0: as the runner says

	Rules []faultserver.Rule `yaml:"rules"`
}

// Plan is what the fault server does.
func (s Scenario) Plan() faultserver.Plan { return faultserver.Plan{Rules: s.Rules} }

// kebab stands before all, which needs it: that Validate is called cannot be seen from there by the compiler.
var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

//go:embed *.yaml
var files embed.FS

var all = load()

func load() *registry.Registry[Scenario] {
	r := registry.New[Scenario]("scenario")
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		data, err := files.ReadFile(entry.Name())
		if err != nil {
			panic(err)
		}
		s, err := Load(entry.Name(), data)
		if err != nil {
			panic("scenarios: " + err.Error())
		}
		if s.Name+".yaml" != entry.Name() {
			panic("scenarios: " + entry.Name() + " calls itself " + s.Name)
		}
		r.Add(s.Name, s)
	}
	return r
}

// All returns the scenarios that ship, by name.
func All() []Scenario { return all.All() }

// Get returns the scenario that ships under name, or an error with the nearest names.
func Get(name string) (Scenario, error) { return all.Get(name) }

// Load reads a scenario. Everything wrong with it is in the error, with file, line and column; the clauses in judges are
// the only thing that it does not know.
func Load(file string, data []byte) (Scenario, error) {
	var s Scenario
	err := strict.Decode(file, data, &s)
	return s, err
}

// Validate checks what the types alone do not say.
func (s *Scenario) Validate(n strict.Node) {
	if !kebab.MatchString(s.Name) {
		n.At("name").Fail("a scenario's name is lower-case words with hyphens between, as in 503-burst, not %q", s.Name)
	}
	if strings.TrimSpace(s.Summary) == "" {
		n.At("summary").Fail("say in one line what happens: summary: Two minutes of 503, then healthy.")
	}
	if len(s.Judges) == 0 {
		n.At("judges").Fail("name the clauses that the scenario puts to the test, as in judges: [retry-cap]")
	}
	seen := map[string]bool{}
	for _, id := range s.Judges {
		if seen[id] {
			n.At("judges").Fail("%s is listed twice", id)
		}
		seen[id] = true
	}
	if s.Clients < 0 || s.Clients > maxClients {
		n.At("clients").Fail("clients is %d; it takes 1 to %d", s.Clients, maxClients)
	}
	if s.Limit < 0 {
		n.At("limit").Fail("limit is %v; a time to wait is positive", s.Limit)
	}
	if len(s.Rules) == 0 {
		n.At("rules").Fail("a scenario without rules disturbs nothing; give it at least one")
	}
	s.Plan().Validate(n)
}

// maxClients keeps one file from starting more processes than a machine bears.
const maxClients = 1000

// String names the scenario and what it does, on one line.
func (s Scenario) String() string { return fmt.Sprintf("%s: %s", s.Name, s.Summary) }
