package driver

import "time"

// stopped is why a client was stopped, as the cause of its context's end.
type stopped struct {
	why   string        // follows the client's name
	at    time.Duration // on the journal's clock, and not after the client could know
	storm bool          // it must end at once
}

func (s *stopped) Error() string { return s.why }
