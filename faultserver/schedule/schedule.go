// Package schedule says when a rule is on: one shape a file, each a pure function of elapsed time and hit count, so that
// it can be tested without a clock.
package schedule

import (
	"time"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Schedule decides whether a rule acts. elapsed counts from the first request that met the rule in its counting scope
// (this call, this client, or all), hit is that request's number in the scope, from 1.
type Schedule interface {
	Active(elapsed time.Duration, hit int) bool
}

// Kind describes one shape of schedule. New returns a pointer to a struct with the shape's settings and their defaults;
// Example is a YAML snippet that decodes into it.
type Kind struct {
	Name, Summary, Example string
	New                    func() Schedule
}

// Kinds holds every registered shape.
var Kinds = registry.New[Kind]("schedule")

func register(k Kind) { Kinds.Add(k.Name, k) }
