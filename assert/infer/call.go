package infer

import "time"

// Call is one call as far as a policy shows in it. Package assert makes them of a history: see assert.Observed.
type Call struct {
	Client, Method string
	Run            string // times of calls with different Run have nothing to do with each other, nor have clients of one name
	Keyed          bool   // the request carries an idempotency key, or another reason why it may be sent twice
	Attempts       []Attempt
	Over           bool // no further attempt is to be expected: the client has ended, or was silent for long
}

// Attempt is one attempt at a call.
type Attempt struct {
	At, End time.Duration // arrival, and when it was over for the client
	Answer  string        // the status, as in 503, or a class of network failure, as in reset
	Network bool          // it is a class of network failure
	Failed  bool          // the client has a reason to try again
	Retry   bool          // sent because the one before failed
	Told    bool          // the answer carried a Retry-After
	Date    bool          // as a date
	Asked   time.Duration // the wait that it asked for; 0 also where it made no sense
	Untimed bool          // how long the client waited before it is not known well enough to count
	Clock   float64       // how many times faster than the machine's the clock ran before this attempt; 0: as fast
}

// tries counts the first attempt and every retry.
func (c *Call) tries() int {
	n := 0
	for i := range c.Attempts {
		if i == 0 || c.Attempts[i].Retry {
			n++
		}
	}
	return n
}

// last is the call's last attempt.
func (c *Call) last() *Attempt { return &c.Attempts[len(c.Attempts)-1] }

// gaveUp reports whether the client itself ended the call with a failure.
func (c *Call) gaveUp() bool { return c.Over && c.last().Failed }

// wait is the time before attempt i, which must not be the first.
func (c *Call) wait(i int) time.Duration { return c.Attempts[i].At - c.Attempts[i-1].End }

// chosen are the waits of the call's own choice from the first retry on. They end where an answer asked for a wait, as what
// comes behind that may have begun anew, and where they are not known. With each goes how fast the clock ran.
func (c *Call) chosen(network bool) (waits []time.Duration, clocks []float64) {
	for i := 1; i < len(c.Attempts); i++ {
		before := &c.Attempts[i-1]
		if !c.Attempts[i].Retry {
			continue
		}
		if before.Told || before.Network != network || c.Attempts[i].Untimed {
			break
		}
		waits, clocks = append(waits, c.wait(i)), append(clocks, max(1, c.Attempts[i].Clock))
	}
	return waits, clocks
}
