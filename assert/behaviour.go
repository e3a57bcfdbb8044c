package assert

import (
	"fmt"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Behaviour is what a contract expects of a client after one kind of answer.
type Behaviour uint8

// The behaviours. Whether a request may be sent twice at all (a POST without a key) is another promise: idempotent-only.
const (
	Unspecified         Behaviour = iota // the contract says nothing about it: 2xx, 3xx, and what it leaves open
	Never                                // no further attempt
	Once                                 // one more attempt at most
	OnceAfterRefresh                     // one more attempt at most, and with other credentials
	WithRetryAfter                       // never, unless the answer carries Retry-After; then backoff
	WithRetryAfterOrKey                  // as WithRetryAfter, and a request with an idempotency key may be retried too
	Backoff                              // retried within the bounds on attempts, time and waits
	NeverAgain                           // no further attempt, and no further call to the same place
)

var behaviourNames = [...]string{"unspecified", "never", "once", "once-after-refresh", "with-retry-after", "with-retry-after-or-key", "backoff", "never-again"}

var behaviourTexts = [...]string{
	"nothing is agreed",
	"does not retry",
	"retries once at most",
	"retries once at most, with renewed credentials",
	"retries only if the answer carries `Retry-After`",
	"retries only if the answer carries `Retry-After` or the request an idempotency key",
	"retries with backoff",
	"does not retry, and sends nothing there any more",
}

// String gives the word that contract files use.
func (b Behaviour) String() string { return behaviourNames[b] }

// MarshalText writes the word that contract files use.
func (b Behaviour) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads the word that contract files use.
func (b *Behaviour) UnmarshalText(text []byte) error {
	for i, name := range behaviourNames {
		if name == string(text) {
			*b = Behaviour(i)
			return nil
		}
	}
	return fmt.Errorf("unknown behaviour %q%s", text, registry.Suggest(string(text), behaviourNames[:]))
}
