package fault

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// Rate is a number of requests in any stretch of time that long, written 100/1m.
type Rate struct {
	N   int
	Per time.Duration
}

// Every request within a limit is remembered for as long as the limit looks back.
const (
	maxRequests = 100_000
	minPer      = time.Millisecond
	maxPer      = 24 * time.Hour
)

// UnmarshalText reads 100/1m.
func (r *Rate) UnmarshalText(text []byte) error {
	const form = "want a number of requests and a length of time, as in 100/1m"
	count, per, ok := strings.Cut(string(text), "/")
	if !ok {
		return fmt.Errorf("rate %q: %s", text, form)
	}
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil {
		return fmt.Errorf("rate %q: %q is no number; %s", text, count, form)
	}
	d, err := time.ParseDuration(strings.TrimSpace(per))
	if err != nil {
		return fmt.Errorf("rate %q: %q is no length of time; %s", text, per, form)
	}
	read := Rate{n, d}
	if err := read.check(); err != nil {
		return err
	}
	*r = read
	return nil
}

// check says what is wrong with the rate.
func (r Rate) check() error {
	switch {
	case r.N < 1 || r.N > maxRequests:
		return fmt.Errorf("rate %s: the number %d is out of range; want 1 to %d", r, r.N, maxRequests)
	case r.Per < minPer || r.Per > maxPer:
		return fmt.Errorf("rate %s: the time %s is out of range; want %s to %s", r, strict.FormatDuration(r.Per), strict.FormatDuration(minPer), strict.FormatDuration(maxPer))
	}
	return nil
}

// String writes the rate as plans do.
func (r Rate) String() string { return fmt.Sprintf("%d/%s", r.N, strict.FormatDuration(r.Per)) }

// JSONSchema describes what UnmarshalText accepts.
func (Rate) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^ *[0-9]+ */ *[0-9.a-zµ]+ *$", "examples": []string{"100/1m", "20/10s"}}
}

// implies reports whether who keeps this rate keeps the other one too, so that the other never acts.
func (r Rate) implies(other Rate) bool {
	stretches := int64((other.Per + r.Per - 1) / r.Per)
	return int64(r.N)*stretches <= int64(other.N)
}
