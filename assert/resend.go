package assert

import (
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// resendWithin is how soon a transport repeats a request whose kept-alive connection died (net/http, curl and OkHttp: at
// once, measured 0-1 ms, and 4-17 ms by a JVM that has just started), and how soon a proxy goes on to the next server. A
// machine that stalls has them late: twice the canary's longest stall comes on top.
const resendWithin = 50 * time.Millisecond

// mostHops is how often one attempt may be repeated by proxies. Envoy's default is once, nginx tries each server once; what
// comes more often is charged to whoever stands before the proxy.
const mostHops = 3

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

// replaced tells whether next, in the call c, takes the place of prev without the client's retry policy knowing, and why; 0
// if it does not.
func (g *grouper) replaced(c *chain, prev, next *journal.Entry) PartKind {
	within := resendWithin + 2*g.key.Run.Noise.Max(endOf(prev), next.At)
	soon := (next.At - endOf(prev)).Abs() <= within // the server may note the end after the repeat has come
	if !failed(prev) || !soon && next.At < endOf(prev) || !sameRequest(prev, next) {
		return 0
	}
	switch {
	case soon && prev.Unprocessed && !c.refused:
		c.refused = true
		return Unprocessed
	case soon && g.isResend(prev, next, c.last):
		return Resend
	case c.hops < mostHops && isHop(prev, next, soon):
		c.hops++
		return Hop
	default:
		return 0
	}
}

// isResend reports whether next is the transport's own repeat of prev: a reused connection died under prev, and next came
// at once on another one. A connection excuses one repeat only, since after that a client that hammers a resetting server
// would look innocent; a repeat on a fresh one (the JDK's two clients do that) is charged.
func (g *grouper) isResend(prev, next *journal.Entry, prevIndex int32) bool {
	if !diedUnanswered(prev) || next.Conn == prev.Conn {
		return false
	}
	first, known := g.dead[prev.Conn]
	if !known || first >= prevIndex {
		return false
	}
	delete(g.dead, prev.Conn)
	return true
}

// isHop reports whether a proxy sent next in place of prev: both came through one and are the same request to the client,
// by its id and by the attempt number that it states; and the proxy counted on, or went to another server at once.
func isHop(prev, next *journal.Entry, soon bool) bool {
	if prev.Rare == nil || next.Rare == nil || !prev.Rare.Proxied || !next.Rare.Proxied {
		return false
	}
	a, b := &prev.Rare.Sent, &next.Rare.Sent
	if a.Request != b.Request || a.Stamp != b.Stamp || a.Trace != b.Trace {
		return false
	}
	if a.Hop > 0 || b.Hop > 0 {
		counted := prev.Claim == next.Claim || prev.Claim == a.Hop && next.Claim == b.Hop
		return a.Hop > 0 && b.Hop == a.Hop+1 && counted
	}
	return soon && a.Request != 0 && prev.Claim == next.Claim && prev.Conn != next.Conn
}

// sameRequest reports whether the two were sent alike. A body that was cut off may have any sum.
func sameRequest(a, b *journal.Entry) bool {
	return a.Method == b.Method && a.Path == b.Path && a.Query == b.Query && a.Key == b.Key &&
		(a.BodySum == b.BodySum || !a.BodyWhole || !b.BodyWhole)
}
