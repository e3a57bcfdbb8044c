// Package infer estimates the retry policy behind a client's waits: how many, how long, growing or not, spread or not.
// All functions are pure; a call is the slice of its attempts in order of arrival.
package infer

import (
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Wait is the time between the end of a failed attempt and the arrival of the next.
type Wait struct {
	Retry    int           // 1: before the second attempt
	Gap      time.Duration // negative when the two overlap
	Directed bool          // the answer carried Retry-After, so the client did not choose the wait
}

// IsRetry reports whether next repeats prev because it failed. Following a redirect does not, nor does answering a 401 or
// 407 with other credentials.
func IsRetry(prev, next journal.Entry) bool { return isRetry(&prev, &next) }

// isRetry spares the copies: entries are large and there may be a million of them.
func isRetry(prev, next *journal.Entry) bool {
	switch {
	case prev.Status >= 300 && prev.Status < 400 && !prev.Cut:
		return false
	case prev.Status == 401 || prev.Status == 407:
		return prev.Auth == next.Auth
	default:
		return true
	}
}

// Of returns the waits of one call, in order. Only retries count, so redirects and challenges shift no index.
func Of(attempts []journal.Entry) []Wait {
	waits := make([]Wait, 0, max(0, len(attempts)-1))
	for i := 1; i < len(attempts); i++ {
		prev, next := attempts[i-1], attempts[i]
		if IsRetry(prev, next) {
			waits = append(waits, Wait{len(waits) + 1, next.At - prev.End(), prev.RetryAfter != ""})
		}
	}
	return waits
}
