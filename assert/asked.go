package assert

import (
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// The three date forms of RFC 9110 5.6.7. Senders use the first; receivers have to read all.
var dateForms = [...]string{"Mon, 02 Jan 2006 15:04:05 GMT", "Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC}

// Asked is how long the answer's Retry-After asks the client to wait, counted from the end of the attempt. A date needs
// the wall clock at the run's start; one in the past gives a negative wait. Next to a Date that was set on purpose, clients
// may also count from that (RFC 9110 leaves it open), and the shorter of the two waits is what binds them. ok is false
// without the header and for values that are neither a whole number of seconds nor a date.
func Asked(e journal.Entry, began time.Time) (wait time.Duration, ok bool) {
	value := strings.Trim(e.RetryAfter, " \t")
	if value == "" {
		return 0, false
	}
	if value[0] >= '0' && value[0] <= '9' {
		return seconds(value)
	}
	if began.IsZero() {
		return 0, false
	}
	until, ok := date(value)
	if !ok {
		return 0, false
	}
	wait = until.Sub(began) - e.End()
	if said, ok := date(e.More().Date); ok {
		wait = min(wait, until.Sub(said))
	}
	return wait, true
}

// date reads an HTTP-date.
func date(value string) (time.Time, bool) {
	for _, form := range dateForms {
		if at, err := time.Parse(form, value); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// seconds reads delta-seconds (RFC 9110 10.2.3): digits only. Values beyond a time.Duration become the longest one.
func seconds(value string) (time.Duration, bool) {
	const most = int64(maxTime / time.Second)
	n := int64(0)
	for _, c := range []byte(value) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int64(c-'0'), most)
	}
	return time.Duration(n) * time.Second, true
}
