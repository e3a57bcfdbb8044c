package assert

import (
	"fmt"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// Longer is what a client does with a Retry-After that is longer than the contract's maximum.
type Longer uint8

// The choices.
const (
	GiveUp    Longer = iota // no further attempt
	WaitMax                 // waits the maximum, then tries again
	EitherWay               // gives up or waits at least the maximum
)

var longerNames = [...]string{"give-up", "wait-max", "either"}

// String gives the word that contract files use.
func (l Longer) String() string { return longerNames[l] }

// MarshalText writes the word that contract files use.
func (l Longer) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the word that contract files use.
func (l *Longer) UnmarshalText(text []byte) error {
	for i, name := range longerNames {
		if name == string(text) {
			*l = Longer(i)
			return nil
		}
	}
	return fmt.Errorf("unknown choice %q%s", text, registry.Suggest(string(text), longerNames[:]))
}
