// Package infer estimates the retry policy behind a client's waits: how many, how long, growing or not, spread or not.
// All functions are pure; a call is the slice of its attempts in order of arrival.
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
