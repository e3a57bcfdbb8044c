package schedule

import (
	"errors"
	"fmt"
	"time"
)

func init() {
	register(Kind{
		Name:    "burst",
		Summary: "on for a while at regular intervals",
		Example: "{burst: {on: 2s, every: 10s}}",
		New:     func() Schedule { return new(Burst) },
	})
}

// Burst is on for On at the start of every Every: faults that come in regular bursts. The first request opens the first.
type Burst struct {
	On    time.Duration `yaml:"on" doc:"how long a burst lasts"`
	Every time.Duration `yaml:"every" doc:"from the start of one burst to the start of the next"`
}

// Active looks at the time only.
func (b Burst) Active(elapsed time.Duration, _ int) bool { return elapsed%b.Every < b.On }

// Shortest is a burst, or the pause between two.
func (b Burst) Shortest() time.Duration { return min(b.On, b.Every-b.On) }

// Check wants bursts with a pause between them.
func (b Burst) Check() error {
	if err := errors.Join(repeated("burst.on", b.On), repeated("burst.every", b.Every)); err != nil {
		return err
	}
	if b.On >= b.Every {
		return fmt.Errorf("burst.on (%v) leaves no pause in burst.every (%v); make it shorter, or use always", b.On, b.Every)
	}
	return nil
}
