package assert

import (
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// resendWithin is how soon a transport repeats a request whose kept-alive connection died (net/http, curl and OkHttp: at
// once, measured 0-1 ms).
const resendWithin = 50 * time.Millisecond

// diedUnanswered reports whether the connection broke before a status line while the client was still there.
func diedUnanswered(e *journal.Entry) bool { return e.Status == 0 && e.Cut && !e.Open && e.Gone == 0 }

// deadConnections lists the connections that died that way; place fills in the first entry of each.
func deadConnections(entries []journal.Entry) map[uint64]int32 {
	dead := map[uint64]int32{}
	for i := range entries {
		if diedUnanswered(&entries[i]) && entries[i].Conn != 0 {
			dead[entries[i].Conn] = -1
		}
	}
	return dead
}

// isResend reports whether next is the transport's own repeat of prev: a reused connection died under prev, and next came
// at once on another one. The retry policy never knew. A connection excuses one repeat only, since after that a client
// that hammers a resetting server would look innocent; on a fresh connection no transport repeats.
func (g *grouper) isResend(prev, next *journal.Entry, prevIndex int32) bool {
	if !diedUnanswered(prev) || next.Conn == prev.Conn || next.At-prev.End() > resendWithin {
		return false
	}
	first, known := g.dead[prev.Conn]
	if !known || first >= prevIndex || !sameRequest(prev, next) {
		return false
	}
	delete(g.dead, prev.Conn)
	return true
}

// sameRequest reports whether the two were sent alike. A body that was cut off may have any sum.
func sameRequest(a, b *journal.Entry) bool {
	return a.Method == b.Method && a.Path == b.Path && a.Query == b.Query && a.Key == b.Key &&
		(a.BodySum == b.BodySum || !a.BodyWhole || !b.BodyWhole)
}
