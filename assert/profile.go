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

// Profile is a named contract that others are based on: what they leave out comes from it. Its text is a contract file,
// with the date when its sources were read.
type Profile struct {
	Name, Summary string
	AsOf          string // 2026-11
	Sources       []string
	Text          []byte

	parsed func() *Contract
}

// strictName is the profile that all others are based on.
const strictName = "strict"

// Contract reads the profile. Each call returns a new copy.
func (p Profile) Contract() *Contract {
	c := *p.parsed()
	c.Responses = c.Responses.Clone()
	c.Limits.ClientRate = slices.Clone(c.Limits.ClientRate)
	c.Idempotency.SafeRoutes = slices.Clone(c.Idempotency.SafeRoutes)
	c.Clauses = maps.Clone(c.Clauses)
	c.Backoff.Schedule = slices.Clone(c.Backoff.Schedule)
	c.Sources = slices.Clone(c.Sources)
	c.root = strict.Node{} // lines of a profile mean nothing to someone who reads a contract based on it
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
		var h header
		mustDecode(file, text, &h)
		all.Add(name, Profile{name, h.Summary, string(h.AsOf), h.Sources, text, sync.OnceValue(func() *Contract {
			return mustParse(name, file, text)
		})})
	}
	return all
}

// header is what is said about a profile. It is read at once; the rest waits until all clauses are registered.
type header struct {
	Summary string
	AsOf    asOf
	Sources []string
}

// UnmarshalNode reads the header's own fields and leaves the others alone.
func (h *header) UnmarshalNode(n strict.Node) {
	n.At("summary").Decode(&h.Summary)
	n.At("as-of").Decode(&h.AsOf)
	n.At("sources").Decode(&h.Sources)
}

func mustParse(name, file string, text []byte) *Contract {
	l := loader{profile: name}
	mustDecode(file, text, &l)
	l.contract.Profile = name
	return l.contract
}

// mustDecode panics on a broken profile: it is a part of the program, and a test reads every one.
func mustDecode(file string, text []byte, into any) {
	if err := strict.Decode(file, text, into); err != nil {
		panic("assert: " + err.Error())
	}
}

// Strict is the default contract: what RFC 9110 and the better client libraries agree on. Each call returns a new copy.
func Strict() *Contract {
	p, _ := Profiles.Get(strictName)
	return p.Contract()
}

// StrictResponses is the table of the profile strict. It is shared: Clone it before changing it.
var StrictResponses = sync.OnceValue(func() *Responses { return Strict().Responses })
