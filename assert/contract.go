package assert

import (
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// Contract is what client and server teams agreed on. Load one with LoadContract; Strict is the default.
type Contract struct {
	Name, Profile string
	Summary       string     // one line; not inherited
	AsOf          string     // when both teams, or a profile's author, last looked at it: 2026-11 or 2026-11-30; not inherited
	Sources       []string   // what its values were read in; not inherited
	Responses     *Responses // never nil in a loaded contract
	Attempts      Attempts
	Backoff       Delays
	RetryAfter    RetryAfter
	Idempotency   Idempotency
	Limits        Limits
	Budget        Budget
	Breaker       Breaker
	Hedging       Hedging
	Poll          Poll
	Clauses       map[string]Setting // by clause id

	root strict.Node // the file it was read from, so that contradictions can name lines
	base *Contract   // the profile that it is based on; nil: none
}

// Attempts bounds one call. 0 is no bound.
type Attempts struct {
	Max    int           `doc:"attempts, the first one included; no bound: unlimited"`
	Within time.Duration `doc:"from the first arrival to the end of the last attempt; no bound: unlimited"`
}

// RetryAfter says what is done with a wait that the server asks for. Max 0 is no bound.
type RetryAfter struct {
	Max    time.Duration `doc:"longest wait that is obeyed; no bound: unlimited"`
	Longer Longer        `doc:"what the client does when asked to wait longer than max"`
}

// Idempotency says which requests may be sent twice.
type Idempotency struct {
	KeyHeader  string   `doc:"header that carries the idempotency key; empty: the usual ones"`
	SafeRoutes []string `doc:"POST /path or /path that may be repeated without a key; a trailing * matches any rest"`
}

// Limits bounds what the server sees of one client.
type Limits struct {
	ClientRate       Rates   `doc:"requests of one client to one endpoint; every one of them holds; none: nothing promised"`
	IdenticalPayload Rate    `doc:"repeats of one failed payload; default what attempts.max needs, but 3 a minute at least"`
	Amplification    float64 `doc:"requests for each call, on average; default attempts.max"`
}

// Key is how requests are grouped into calls under this contract: by its table, the pace of its pollers and the copies that it
// lets stand beside an attempt. What is known about a run, or about its recording, is for the caller to add.
func (c *Contract) Key() Key {
	return Key{Table: c.Responses, Poll: c.Poll.Every, Hedges: max(0, c.Hedging.Max-1)}
}

// Requests is how many requests one call may send at most: its attempts, each with the copies that are agreed on; 0: no bound.
func (c *Contract) Requests() int { return c.Attempts.Max * max(1, c.Hedging.Max) }

// Horizon is how long after a failure an attempt may still belong to the same call, for grouping a recorded history; 0: to be
// derived from the waits seen. Only a schedule says that calls pause for minutes or hours.
func (c *Contract) Horizon() time.Duration {
	if len(c.Backoff.Schedule) == 0 {
		return 0
	}
	longest := c.Backoff.Jitter.Ceiling(c.Backoff.Longest())
	return longest + longest/2
}

// Judged is a clause as a contract switches it on.
type Judged struct {
	Kind   Kind
	Clause Clause
	Level  Level
}

// finished is the contract with everything filled in that can be derived. Clauses see only finished contracts.
func (c *Contract) finished() *Contract {
	f := *c
	if f.Responses == nil {
		f.Responses = StrictResponses()
	}
	if f.Attempts.Max > 0 {
		if f.Limits.IdenticalPayload.IsZero() {
			f.Limits.IdenticalPayload = Rate{max(3, f.Attempts.Max-1), time.Minute}
		}
		if f.Limits.Amplification == 0 {
			f.Limits.Amplification = float64(f.Attempts.Max)
		}
	}
	return &f
}
