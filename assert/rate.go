package assert

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// Rate is a number of requests in any stretch of time that long. The zero value is no limit.
type Rate struct {
	N   int
	Per time.Duration
}

// leastRated is the shortest time that a rate may be about.
const leastRated = 10 * time.Millisecond

// IsZero reports whether there is no limit.
func (r Rate) IsZero() bool { return r == Rate{} }

// ParseRate reads "10/1m": at most 10 requests in any minute.
func ParseRate(s string) (Rate, error) {
	const form = "want a number and a length of time, as in 10/1m"
	count, per, ok := strings.Cut(s, "/")
	if !ok {
		return Rate{}, fmt.Errorf("rate %q: %s", s, form)
	}
	n, err := strconv.Atoi(strings.TrimSpace(count))
	if err != nil || n < 1 {
		return Rate{}, fmt.Errorf("rate %q: %q is not a positive number; %s", s, count, form)
	}
	d, err := time.ParseDuration(strings.TrimSpace(per))
	if err != nil || d <= 0 {
		return Rate{}, fmt.Errorf("rate %q: %q is not a positive length of time; %s", s, per, form)
	}
	if d < leastRated {
		return Rate{}, fmt.Errorf("rate %q: clocks alone differ by 2 ms; want %s or more", s, short(leastRated))
	}
	if n > most.rate || d > most.within {
		return Rate{}, fmt.Errorf("rate %q: no run counts so far; want %d requests in %s at most", s, most.rate, plain(most.within))
	}
	return Rate{n, d}, nil
}

// String writes the rate as contract files do.
func (r Rate) String() string {
	if r.IsZero() {
		return "no limit"
	}
	return fmt.Sprintf("%d/%s", r.N, short(r.Per))
}

// MarshalText writes the rate as contract files do.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the rate as contract files write it.
func (r *Rate) UnmarshalText(text []byte) error {
	parsed, err := ParseRate(string(text))
	if err == nil {
		*r = parsed
	}
	return err
}

func short(d time.Duration) string { return strict.FormatDuration(d) }
