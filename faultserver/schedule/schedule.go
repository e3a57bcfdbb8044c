// Package schedule says when a rule is on: one shape a file, each a pure function of elapsed time and hit count, so that
// it can be tested without a clock.
package schedule

import (
	"errors"
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Schedule decides whether a rule acts. elapsed counts from the first request that met the rule in its counting scope
// (this call, this client, or all), hit is that request's number in the scope, from 1.
type Schedule interface {
	Active(elapsed time.Duration, hit int) bool
}

// Checker is a Schedule whose settings can be impossible. Check says what is wrong with them, and names the setting.
type Checker interface {
	Schedule
	Check() error
}

// Alternator is a Schedule that goes on and off over and over.
type Alternator interface {
	Schedule
	Shortest() time.Duration // that it stays as it is
}

// Kind describes one shape of schedule. New returns a pointer to the shape's settings with their defaults; Example is
// YAML for a rule's `when` that uses it.
type Kind struct {
	Name, Summary, Example string
	New                    func() Schedule
}

// Kinds holds every registered shape.
var Kinds = registry.New[Kind]("schedule")

func register(k Kind) { Kinds.Add(k.Name, k) }

// positive complains about a duration that has to be longer than nothing.
func positive(setting string, d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("%s is %v, but has to be longer than 0s", setting, d)
	}
	return nil
}

// repeated wants a time that comes again and again.
func repeated(setting string, d time.Duration) error {
	return errors.Join(positive(setting, d), bounded(setting, d))
}

// longest is more than any run takes, and short enough that times can be added.
const longest = 365 * 24 * time.Hour

func bounded(setting string, d time.Duration) error {
	if d > longest {
		return fmt.Errorf("%s is %v, but no run lasts longer than a year; it takes up to %v", setting, d, longest)
	}
	return nil
}
