package assert

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// What stands in a journal without a request: a fault may have ended the connection before one was read, or the client sent
// none, or not the whole of its first line. Such an attempt has no method: whose it was only the driver can tell, and that
// nothing was carried out is certain.

// unreadRule is the grouping rule of attempts that are calls of their own because nobody can tell whose they were.
const unreadRule = "connection"

// unread reports whether no request was read. What was answered was read, whether its method is known or not.
func unread(e *journal.Entry) bool { return e.Method == "" && e.Status == 0 }

// spare is how many connections that it never used are a client's own business, on top of one for each of its requests:
// pools connect ahead of need, dialers race.
const spare = 50

// used leaves out connections over which no request came; what a client opened beyond all need stays. Entries are copied
// only if there are such connections.
func used(entries []journal.Entry) []journal.Entry {
	unused := func(e journal.Entry) bool { return e.Unused() }
	if !slices.ContainsFunc(entries, unused) {
		return entries
	}
	free := map[string]int{}
	for i := range entries {
		if e := &entries[i]; !e.Unused() {
			free[e.Client]++
		}
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e journal.Entry) bool {
		if !e.Unused() {
			return false
		}
		free[e.Client]--
		return free[e.Client] >= -spare
	})
}

// placeOnly places an entry of a client that makes one call. Attempts without a request continue what failed last; the
// first request after such attempts that continue nothing is what they were for.
func (g *grouper) placeOnly(i int32) {
	e := &g.entries[i]
	k := exactKey{rule: driverRule, client: e.Client, method: e.Method, path: e.Path}
	latest, found := g.latest[e.Client]
	c, known := g.exact[k]
	switch {
	case unread(e) && found && (g.nameless(latest) || g.mayContinue(latest)):
		c = latest
		g.extend(c, i)
	case !unread(e) && known:
		c = g.placeKnown(c, i)
	case !unread(e) && found && g.nameless(latest):
		c = latest
		g.chains[c].named = i
		g.extend(c, i)
		g.exact[k] = c
	default:
		to, led := g.follow(i)
		if c = to; led {
			g.extend(c, i)
		} else {
			c = g.open(k.rule, i)
		}
		if !unread(e) {
			g.exact[k] = c
		}
	}
	g.latest[e.Client] = c
}

// nameless reports whether no request of the chain was read so far.
func (g *grouper) nameless(c int32) bool { return unread(&g.entries[g.chains[c].named]) }

// mayContinue reports whether a retry after the chain's last attempt is no breach: a bare connection proves none.
func (g *grouper) mayContinue(c int32) bool {
	last := &g.entries[g.chains[c].last]
	return last.Open || failed(last) && g.key.Table.after(last) != Never
}

// unreadTimes lists when the attempts came that are calls of their own, by client.
func unreadTimes(calls []Call) map[string][]time.Duration {
	var times map[string][]time.Duration
	for i := range calls {
		if c := &calls[i]; c.Rule == unreadRule {
			if times == nil {
				times = map[string][]time.Duration{}
			}
			times[c.Client] = append(times[c.Client], c.Attempts[0].At)
		}
	}
	return times
}

// maybeBetween reports whether an attempt of which no request was read came in between, which may be one at this call.
func (c *Call) maybeBetween(from, to time.Duration) bool {
	i, _ := slices.BinarySearch(c.unread, from-overlap)
	return i < len(c.unread) && c.unread[i] <= to
}

// read leaves the attempts out of which no request was read. It gives nil where nothing is left.
func (c *Call) read() *Call {
	if !slices.ContainsFunc(c.Attempts, func(e journal.Entry) bool { return unread(&e) }) {
		return c
	}
	only := *c
	only.Attempts = slices.DeleteFunc(slices.Clone(c.Attempts), func(e journal.Entry) bool { return unread(&e) })
	if len(only.Attempts) == 0 {
		return nil
	}
	return &only
}

// withRequests leaves the calls out that are bare connections.
func withRequests(calls []Call) []Call {
	if !slices.ContainsFunc(calls, func(c Call) bool { return c.Rule == unreadRule }) {
		return calls
	}
	return slices.DeleteFunc(slices.Clone(calls), func(c Call) bool { return c.Rule == unreadRule })
}
