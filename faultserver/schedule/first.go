package schedule

import (
	"fmt"
	"time"
)

func init() {
	register(Kind{
		Name:    "first",
		Summary: "on for the first N requests, then off for good",
		Example: "{first: 3}",
		New:     func() Schedule { return new(First) },
	})
}

// First is on for as many requests as it says.
type First int

// Active looks at the hit only.
func (f First) Active(_ time.Duration, hit int) bool { return hit <= int(f) }

// Check wants at least one request.
func (f First) Check() error {
	if f < 1 {
		return fmt.Errorf("first is %d, so the rule is never on; it takes 1 or more", int(f))
	}
	return nil
}
