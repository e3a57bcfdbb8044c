package interop

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Count is how many requests there may be, written 5, 23-29 or 50+.
type Count struct{ Least, Most int } // Most 0: no end

// UnmarshalText reads a count.
func (c *Count) UnmarshalText(text []byte) (err error) {
	word := string(text)
	least, most, isRange := strings.Cut(word, "-")
	open := strings.HasSuffix(word, "+")
	if c.Least, err = strconv.Atoi(strings.TrimSuffix(least, "+")); err == nil {
		c.Most = c.Least
		switch {
		case open:
			c.Most = 0
		case isRange:
			c.Most, err = strconv.Atoi(most)
		}
	}
	if err != nil || c.Least < 1 || c.Most != 0 && c.Most < c.Least {
		return fmt.Errorf("%q is no count; write 5, 23-29 or 50+", word)
	}
	return nil
}

func (c Count) String() string {
	switch {
	case c.Most == 0:
		return strconv.Itoa(c.Least) + "+"
	case c.Most == c.Least:
		return strconv.Itoa(c.Least)
	default:
		return fmt.Sprintf("%d-%d", c.Least, c.Most)
	}
}

// Holds reports whether n requests are as many as they may be. A client that was stopped could have sent more.
func (c Count) Holds(n int, stopped bool) bool {
	return (stopped || n >= c.Least) && (c.Most == 0 || n <= c.Most)
}

// Bound is how long a wait may be, without any tolerance, written 1s or 250ms-750ms.
type Bound struct{ Least, Most time.Duration }

// UnmarshalText reads a bound.
func (b *Bound) UnmarshalText(text []byte) (err error) {
	least, most, isRange := strings.Cut(string(text), "-")
	if b.Least, err = time.ParseDuration(least); err == nil {
		b.Most = b.Least
		if isRange {
			b.Most, err = time.ParseDuration(most)
		}
	}
	if err != nil || b.Least < 0 || b.Most < b.Least {
		return fmt.Errorf("%q is no wait; write 1s or 250ms-750ms", text)
	}
	return nil
}

func (b Bound) String() string {
	if b.Least == b.Most {
		return b.Least.String()
	}
	return b.Least.String() + "-" + b.Most.String()
}

// How far a wait may lie outside of its bound on a machine that is quiet. A timer may come early because two clocks are
// read; what a client does before its first retry, such as loading a module, comes on top of the wait.
const (
	early = time.Millisecond
	late  = 300 * time.Millisecond
)

// Holds reports whether a wait lies within the bound, where the machine may have bent it by noise; with none, time is
// virtual and exact.
func (b Bound) Holds(wait, noise time.Duration) bool {
	if noise == 0 {
		return wait >= b.Least-early && wait <= b.Most+early
	}
	return wait >= b.Least-early-noise && wait <= b.Most+late+noise
}
