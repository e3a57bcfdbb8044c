package assert

import (
	"embed"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// Profile is a named contract that others are based on: what they leave out comes from it. Its text is a contract file.
type Profile struct {
	Name, Summary string
	Text          []byte

	parsed func() *Contract
}

// Contract reads the profile. Each call returns a new copy.
func (p Profile) Contract() *Contract {
	c := *p.parsed()
	c.Responses = c.Responses.Clone()
	c.Limits.ClientRate = slices.Clone(c.Limits.ClientRate)
	c.Idempotency.SafeRoutes = slices.Clone(c.Idempotency.SafeRoutes)
	c.Clauses = maps.Clone(c.Clauses)
	return &c
}

// Profiles holds every profile: one file each in the folder profiles.
var Profiles = embedded()

//go:embed profiles/*.yaml
var profileFiles embed.FS

func embedded() *registry.Registry[Profile] {
	all := registry.New[Profile]("profile")
	files, _ := profileFiles.ReadDir("profiles") // embedded: cannot fail
	for _, f := range files {
		file := path.Join("profiles", f.Name())
		text, _ := profileFiles.ReadFile(file)
		name := strings.TrimSuffix(f.Name(), ".yaml")
		all.Add(name, Profile{Name: name, Summary: firstComment(text), Text: text, parsed: sync.OnceValue(func() *Contract {
			return mustParse(name, file, text)
		})})
	}
	return all
}

// mustParse panics on a broken profile: it is a part of the program, and a test reads every one.
func mustParse(name, file string, text []byte) *Contract {
	l := loader{bare: true}
	if err := strict.Decode(file, text, &l); err != nil {
		panic("assert: " + err.Error())
	}
	l.contract.Profile = name
	l.contract.root = strict.Node{} // lines of a profile mean nothing to someone who reads a contract based on it
	return l.contract
}

func firstComment(text []byte) string {
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(strings.TrimPrefix(line, "#"))
}

// Strict is the default contract: what RFC 9110 and the better client libraries agree on. Each call returns a new copy.
func Strict() *Contract {
	p, _ := Profiles.Get("strict")
	return p.Contract()
}

// StrictResponses is the table of the profile strict. It is shared: Clone it before changing it.
var StrictResponses = sync.OnceValue(func() *Responses { return Strict().Responses })
