package assert

import "github.com/retrygate/retrygate/faultserver/journal"

// corrected reports whether attempt i+1 is no repeat of attempt i but another request, which the answer asked for.
func (c *Call) corrected(i int) bool {
	e, next := &c.Attempts[i], &c.Attempts[i+1]
	switch e.Status {
	case 411, 417:
		return withoutHeader(c, i)
	case 409, 412, 413, 415, 416, 423, 428:
		return changedRequest(e, next)
	default:
		return false
	}
}

// changedRequest reports whether next differs from e in what its answer found wrong: a merge after a conflict, a failed
// condition or a lock, something smaller after "too large", another coding, another part, a condition where one was wanted.
func changedRequest(e, next *journal.Entry) bool {
	switch e.Status {
	case 409, 412, 415:
		return e.BodySum != next.BodySum
	case 413: // nothing is known of a body that was refused unread
		return next.BodyLen < e.BodyLen || unreadBody(e)
	case 416:
		return partOf(e) != partOf(next)
	case 423:
		return e.BodySum != next.BodySum || next.Precondition && !e.Precondition
	case 428:
		return next.Precondition && !e.Precondition
	default:
		return false
	}
}

// withoutHeader reports whether attempt i is the first 411 or 417 in a row to a request with a body: the client may repeat it
// with its length (RFC 9110 15.5.12), or without "Expect: 100-continue" (10.1.1), and the journal keeps neither header.
func withoutHeader(c *Call, i int) bool {
	e := &c.Attempts[i]
	return (e.BodyLen > 0 || e.Refused()) && (i == 0 || c.Attempts[i-1].Status != e.Status)
}

// partOf is the part of a thing that a request asks for, or brings; "" for the whole.
func partOf(e *journal.Entry) string {
	if e.Rare == nil {
		return ""
	}
	return e.Rare.Range
}
