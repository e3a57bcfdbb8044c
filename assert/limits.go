package assert

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// most are the largest values that a contract may agree on. What lies beyond is a slip of the pen (nanoseconds for
// seconds, a digit too many), and no run could tell whether it is kept.
var most = struct {
	attempts, rate        int
	factor, amplification float64
	wait, within          time.Duration
}{
	attempts: 10_000, rate: 1_000_000_000,
	factor: 1000, amplification: 1e6,
	wait: 30 * 24 * time.Hour, within: 365 * 24 * time.Hour,
}

// atMost fails at the field when the file gives it a value above the largest that makes sense.
func atMost[T cmp.Ordered](n strict.Node, field string, v, most T, why string) {
	if f, ok := n.Field(field); ok && v > most {
		f.Fail("%s: %s is too much: %s; want %s at most", field, f.String(), why, plain(most))
	}
}

// plain writes a bound in full: 1000000, not 1e+06, and days, not hours.
func plain(bound any) string {
	switch b := bound.(type) {
	case time.Duration:
		return fmt.Sprintf("%d days", b/(24*time.Hour))
	case float64:
		return strconv.FormatFloat(b, 'f', -1, 64)
	default:
		return fmt.Sprint(b)
	}
}
