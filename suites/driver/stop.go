package driver

import (
	"fmt"
	"time"
)

// stopped is why a client was stopped, as the cause of its context's end.
type stopped struct {
	why   string        // follows the client's name; "" if it matters only to what a command left running
	left  string        // in place of why for what a command left running: "after 60 s"; "" if why says enough
	at    time.Duration // on the journal's clock, and not after the client could know
	storm bool          // it must end at once

	watched bool // it works by itself and was watched for as long as the scenario wants
}

func (s *stopped) Error() string { return s.why }

// tell says why the client was stopped, when exit is how its command itself had ended before and left is how many
// processes of it went on.
func (s *stopped) tell(exit Exit, left int) string {
	switch {
	case left == 0 || s.left == "":
		return s.why
	case left == 1:
		return fmt.Sprintf("%s, but 1 process that it started went on and was stopped %s", exit, s.left)
	default:
		return fmt.Sprintf("%s, but %d processes that it started went on and were stopped %s", exit, left, s.left)
	}
}
