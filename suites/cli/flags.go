package cli

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/retrygate/retrygate/assert"
)

// span is a duration flag that must be positive.
type span time.Duration

func (s *span) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

func (*span) Type() string { return "DURATION" }

func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return errors.New("not a duration; write it with a unit, like 30s or 2m")
	case d <= 0:
		return errors.New("must be longer than 0s")
	}
	*s = span(d)
	return nil
}

// number is a count flag that must be positive; 0, its zero value, means that it was not given.
type number int

func (n *number) String() string {
	if *n == 0 {
		return ""
	}
	return strconv.Itoa(int(*n))
}

func (*number) Type() string { return "N" }

func (n *number) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("not a whole number")
	}
	if v < 1 || v > mostClients {
		return fmt.Errorf("must be from 1 to %d", mostClients)
	}
	*n = number(v)
	return nil
}

// Each client is a process with an address of its own; more would measure the machine and not the client.
const mostClients = 1000

// seed is the --seed flag.
type seed uint64

const seedUsage = "what random faults are drawn from: the same seed draws the same"

func (s *seed) String() string { return strconv.FormatUint(uint64(*s), 10) }
func (*seed) Type() string     { return "N" }

func (s *seed) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return errors.New("not a whole number from 0 on")
	}
	*s = seed(v)
	return nil
}

// level is the --fail-on flag.
type level struct{ assert.Level }

func (l *level) String() string     { return l.Level.String() }
func (*level) Type() string         { return "LEVEL" }
func (l *level) Set(s string) error { return l.UnmarshalText([]byte(s)) }
