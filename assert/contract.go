package assert

import "time"

// Contract is what client and server teams agreed on. Load one with LoadContract; Strict is the default.
type Contract struct {
	Name, Profile string
	Responses     *Responses
	Attempts      Attempts
	Backoff       Backoff
	RetryAfter    RetryAfter
	Idempotency   Idempotency
	Limits        Limits
	Clauses       map[string]Setting
}

// Attempts bounds one call.
type Attempts struct {
	Max    int           // attempts, the first one included; 0: no bound
	Within time.Duration // from the first arrival to the end of the last attempt; 0: no bound
}

// Backoff describes the waits that the client chooses by itself. Zero values promise nothing.
type Backoff struct {
	Initial    time.Duration
	Multiplier float64
	Max        time.Duration
	Jitter     Jitter
}
