// Package scenarios holds the faults as data: each file is a plan with a purpose and the clauses that it puts to the test.
package scenarios

import (
	"embed"
	"fmt"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

//go:embed *.yaml
var files embed.FS

var all = load()

// load reads what ships. It panics on a bad file, which the tests of this package find first.
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
			panic(fmt.Sprintf("scenarios: what ships is broken:\n%v", err))
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

// Names returns the names of the scenarios that ship, sorted.
func Names() []string { return all.Names() }

// Get returns the scenario that ships under name, or an error with the nearest names.
func Get(name string) (Scenario, error) { return all.Get(name) }

// Load reads a scenario. Everything wrong with it is in the error, with file, line and column. This package knows no
// clauses, so judges may name any, unless those that exist are given.
func Load(file string, data []byte, clauses ...string) (Scenario, error) {
	s := Scenario{clauses: clauses}
	if err := strict.Decode(file, data, &s); err != nil {
		return Scenario{}, err
	}
	s.clauses = nil
	return s, nil
}

// Source returns the file that a scenario ships as, to start one's own from.
func Source(name string) ([]byte, error) {
	if _, err := Get(name); err != nil {
		return nil, err
	}
	return files.ReadFile(name + ".yaml")
}
