package schedule

import "time"

func init() {
	register(Kind{
		Name:    "always",
		Summary: "on for every request; the default",
		Example: "always",
		New:     func() Schedule { return new(Always) },
	})
}

// Always is on for every request.
type Always struct{}

// Active is true.
func (Always) Active(time.Duration, int) bool { return true }
