// Package infer estimates the retry policy behind a client's calls: how often it tries, how waits grow and spread, after
// which answers it tries again, what it makes of a Retry-After. All functions are pure.
//
// Waits are explained by every combination of a growth family (one file each) and a kind of jitter; the explanations are
// compared by how likely they make what was seen, less what their parameters cost (the Bayesian information criterion).
// What comes within 6 of the best is left open, with what would decide. Clauses use Waits, TrendOf and SpreadOf, which
// assume no family.
package infer

import "github.com/retrygate/retrygate/faultserver/journal"

// IsRetry reports whether next repeats prev because it failed. Following a redirect does not, nor does answering a 401 or
// 407 with other credentials.
func IsRetry(prev, next *journal.Entry) bool {
	switch {
	case prev.Status >= 300 && prev.Status < 400 && !prev.Cut:
		return false
	case prev.Status == 401 || prev.Status == 407:
		return prev.Auth == next.Auth
	default:
		return true
	}
}
