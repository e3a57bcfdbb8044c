package assert

import "time"

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
