package assert

import (
	"math"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// Contract is what client and server teams agreed on. Load one with LoadContract; Strict is the default.
type Contract struct {
	Name, Profile string
	Responses     *Responses // never nil in a loaded contract
	Attempts      Attempts
	Backoff       Delays
	RetryAfter    RetryAfter
	Idempotency   Idempotency
	Limits        Limits
	Clauses       map[string]Setting // by clause id

	root strict.Node // the file it was read from, so that contradictions can name lines
}

// Attempts bounds one call.
type Attempts struct {
	Max    int           // attempts, the first one included; 0: no bound
	Within time.Duration // from the first arrival to the end of the last attempt; 0: no bound
}

// Delays describes the waits that the client chooses by itself. Zero values promise nothing.
type Delays struct {
	Initial    time.Duration // wait before the first retry, before jitter
	Multiplier float64       // factor from one wait to the next, before jitter
	Growth     float64       // least factor by which the mean wait grows per retry, 1: it need not; 0: derived from Multiplier
	Max        time.Duration // no wait is longer, before jitter
	Jitter     Jitter
}

// Delay is the wait before retry k (from 1) without jitter; 0 when the contract does not fix it.
func (d Delays) Delay(k int) time.Duration {
	wait := float64(d.Initial) * math.Pow(max(d.Multiplier, 1), float64(k-1))
	if limit := float64(d.Max); d.Max > 0 && wait > limit {
		wait = limit
	}
	if wait >= float64(maxTime) { // a doubling delay leaves 64 bits after some forty retries
		return maxTime
	}
	return time.Duration(wait)
}

// MinGrowth is the least factor by which the mean wait has to grow per retry; 0 when nothing is promised. Half of the
// agreed growth is demanded where only a multiplier is written: caps and few retries flatten the curve.
func (d Delays) MinGrowth() float64 {
	switch {
	case d.Growth > 0:
		return d.Growth
	case d.Multiplier > 1:
		return 1 + (d.Multiplier-1)/2
	default:
		return 0
	}
}

// RetryAfter says what is done with a wait that the server asks for.
type RetryAfter struct {
	Max    time.Duration // longest wait that is obeyed; 0: no bound
	Longer Longer        // what the client does when asked to wait longer than Max
}

// Idempotency says which requests may be sent twice.
type Idempotency struct {
	KeyHeader  string   // header that carries the idempotency key; empty: the usual ones
	SafeRoutes []string // "POST /path" or "/path" that may be repeated without a key; a trailing * matches any rest
}

// Limits bounds what the server sees of one client.
type Limits struct {
	ClientRate       Rates   // requests of one client to one endpoint; every one of them holds; none: nothing promised
	IdenticalPayload Rate    // repeats of one failed payload; zero: what Attempts.Max needs, but 3 a minute at least
	Amplification    float64 // requests for each call; zero: Attempts.Max
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
