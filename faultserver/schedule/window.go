package schedule

import (
	"errors"
	"fmt"
	"time"
)

func init() {
	register(Kind{
		Name:    "window",
		Summary: "on for one stretch of time after the first request",
		Example: "{window: {from: 0s, for: 2m}}",
		New:     func() Schedule { return new(Window) },
	})
}

// Window is on for one stretch of time: an outage that starts From after the first request and lasts For.
type Window struct {
	From time.Duration `yaml:"from" doc:"how long after the first request it opens; default 0s"`
	For  time.Duration `yaml:"for" doc:"how long it stays open"`
}

// Active looks at the time only. The end is not part of the window.
func (w Window) Active(elapsed time.Duration, _ int) bool {
	return elapsed >= w.From && elapsed-w.From < w.For
}

// Check wants a window of some length.
func (w Window) Check() error {
	from := bounded("window.from", w.From)
	if w.From < 0 {
		from = fmt.Errorf("window.from is %v, but there is nothing before the first request; it takes 0s or more", w.From)
	}
	return errors.Join(from, positive("window.for", w.For))
}
