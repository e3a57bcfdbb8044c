package infer

import "github.com/retrygate/retrygate/faultserver/registry"

// Family is one way in which the waits of a call grow.
type Family struct {
	Name    string
	Summary string // one line, with the first waits
	rank    float64
	fits    func(s *sample) []fit   // explanations of waits by this family; nil: it is found in another way
	curve   func(retry int) float64 // where all curves of the family have one shape, from 0; nil: they do not
}

// Families holds every family, one a file.
var Families = registry.New[*Family]("growth family")

func register(f Family) *Family {
	Families.Add(f.Name, &f)
	return &f
}

// shape registers a family whose curve has no parameter but its unit, and may have a limit.
func shape(name, summary string, rank float64, curve func(retry int) float64) *Family {
	f := register(Family{Name: name, Summary: summary, rank: rank, curve: curve})
	f.fits = func(s *sample) []fit { return s.drawn(fit{family: f}, curve, true) }
	return f
}
