package assert

import "github.com/retrygate/retrygate/faultserver/journal"

// Succeeded reports whether a whole 2xx answer was delivered to a client that was still there.
func Succeeded(e journal.Entry) bool { return succeeded(&e) }

// NetworkFailure reports whether the client saw no usable answer: no status line, an answer that was broken off, or a 2xx
// that it left before the end. An exchange that is still open has not failed.
func NetworkFailure(e journal.Entry) bool { return networkFailure(&e) }

// Failed reports whether the client has a reason to try again: a network failure, a 4xx or a 5xx.
// Redirects (3xx) are answers to follow, not failures.
func Failed(e journal.Entry) bool { return failed(&e) }

// MaybeProcessed reports whether the server may have acted on the request although the client saw it fail, so that a
// second send can act twice (RFC 9110 9.2.2). Statuses by which a server says that it refused the request are not meant.
func MaybeProcessed(e journal.Entry) bool { return maybeProcessed(&e) }

// The forms below spare the copies: entries are large and there may be a million of them.

func succeeded(e *journal.Entry) bool { return e.Status >= 200 && e.Status < 300 && e.Delivered() }

func networkFailure(e *journal.Entry) bool {
	return !e.Open && (e.Status == 0 || e.Cut || (e.Gone > 0 && e.Status < 300))
}

// NetworkFailed reports whether attempt i ended without an answer that the client could read to its end.
func (c *Call) NetworkFailed(i int) bool { return networkFailure(&c.Attempts[i]) }

func failed(e *journal.Entry) bool { return networkFailure(e) || (e.Status >= 400 && !e.Open) }

func maybeProcessed(e *journal.Entry) bool {
	switch {
	case unread(e), e.Refused(), e.Unprocessed:
		return false // before there was anything to act on, or anybody; or the server said that it did not
	case networkFailure(e):
		return networkFacts[classOf(e)].processed
	case !failed(e):
		return false
	case e.Status == 503:
		return e.RetryAfter == "" // with it, a server that sheds load says when to come back
	default:
		return factOf(e.Status).processed
	}
}
