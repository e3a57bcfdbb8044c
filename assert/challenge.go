package assert

import "github.com/retrygate/retrygate/faultserver/journal"

// Clients that no listener and no header tells apart are known by their credentials, so that one that renews them looks like
// another. What links the two is the connection, or the id that both requests carry.

// challenge is where a request with other credentials has to come from to belong to the one that was answered 401 or 407.
type challenge struct {
	conn uint64
	id   string
}

// challenges gives the two ways to tell.
func challenges(e *journal.Entry) [2]challenge {
	return [2]challenge{{conn: e.Conn}, {id: e.Call}}
}

// challengedBy notes that entry i, of chain c, asks its client for other credentials.
func (g *grouper) challengedBy(c, i int32) {
	e := &g.entries[i]
	if (e.Status != 401 && e.Status != 407) || !e.Delivered() {
		return
	}
	if g.challenged == nil {
		g.challenged = map[challenge]int32{}
	}
	for _, from := range challenges(e) {
		if from != (challenge{}) {
			g.challenged[from] = c
		}
	}
}

// answered finds the call whose challenge entry i answers under another name: the same request with other credentials, the
// next one that comes from there. A challenge is good for one answer.
func (g *grouper) answered(i int32) (int32, bool) {
	if len(g.challenged) == 0 {
		return 0, false
	}
	e := &g.entries[i]
	for _, from := range challenges(e) {
		c, ok := g.challenged[from]
		if !ok || from == (challenge{}) {
			continue
		}
		delete(g.challenged, from)
		prev := &g.entries[g.chains[c].last]
		if prev.Client != e.Client && prev.Auth != e.Auth && (prev.Status == 401 || prev.Status == 407) &&
			sameRequest(prev, e) && e.At-endOf(prev) <= neverHorizon {
			return c, true
		}
	}
	return 0, false
}
