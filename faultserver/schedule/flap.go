package schedule

import (
	"errors"
	"time"
)

func init() {
	register(Kind{
		Name:    "flap",
		Summary: "down and up in turn, starting down",
		Example: "{flap: {up: 1s, down: 1s}}",
		New:     func() Schedule { return new(Flap) },
	})
}

// Flap is a service that goes down and comes back over and over: the rule is on while it is down. It starts down, because
// the clock starts with the first request, which would otherwise always succeed.
type Flap struct {
	Up   time.Duration `yaml:"up" doc:"how long it is off at a time"`
	Down time.Duration `yaml:"down" doc:"how long it is on at a time"`
}

// Active looks at the time only.
func (f Flap) Active(elapsed time.Duration, _ int) bool { return elapsed%(f.Up+f.Down) < f.Down }

// Shortest is that of either state.
func (f Flap) Shortest() time.Duration { return min(f.Up, f.Down) }

// Check wants both states to last.
func (f Flap) Check() error {
	return errors.Join(repeated("flap.up", f.Up), repeated("flap.down", f.Down))
}
