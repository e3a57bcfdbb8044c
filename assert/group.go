package assert

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Calls groups entries into calls, ordered by their first attempts. Rules, the first that applies: the driver's word
// (Key.OneCall), the call id that the request carries, its idempotency key, else a match: same client, method, path,
// query and body, after a failure and soon enough. An attempt that a fault ended before a request was read is a call of its
// own, under the rule "connection", unless the driver's word says more. Connections that the client did not use belong to no
// call, unless they are so many that they are a storm. One copy of the entries is made; Attempts are parts of it.
func Calls(entries []journal.Entry, key Key) []Call {
	entries = ordered(used(entries))
	g := newGrouper(entries, key)
	for i := range entries {
		g.place(int32(i))
	}
	return g.calls(entries)
}

// grouper assigns entries to calls in one pass. It works on indices: entries are large.
type grouper struct {
	entries []journal.Entry
	key     Key
	exact   map[exactKey]int32
	latest  map[string]int32 // chain of each client's last entry, where it makes one call
	waiting map[matchKey]*queue
	dead    map[uint64]int32 // first entry on each connection that died without a status line
	chains  []chain
	owner   []int32 // chain of each entry
	resent  []bool  // repeated by the transport; allocated when one is found
}

// chain is a call in the making.
type chain struct {
	rule        string
	first, last int32 // entries
	named       int32 // the first entry with a request
	size        int32 // attempts, without those resent
	resends     int32
	longest     time.Duration // longest gap so far
	ambiguous   bool
}

type exactKey struct{ rule, client, method, path, id string }

type matchKey struct {
	client, method, path, query string
	body                        uint64
}

func newGrouper(entries []journal.Entry, key Key) *grouper {
	if key.Table == nil {
		key.Table = StrictResponses()
	}
	if key.Run == nil {
		key.Run = watched(entries)
	}
	return &grouper{
		entries: entries, key: key,
		exact: map[exactKey]int32{}, latest: map[string]int32{}, waiting: map[matchKey]*queue{},
		dead: deadConnections(entries), owner: make([]int32, len(entries)),
	}
}

// watched is the run that entries alone testify to.
func watched(entries []journal.Entry) *Run {
	run := &Run{}
	for i := range entries {
		run.Until = max(run.Until, entries[i].End())
	}
	return run
}

// place finds the call of entry i.
func (g *grouper) place(i int32) {
	e := &g.entries[i]
	if first, ok := g.dead[e.Conn]; ok && first < 0 {
		g.dead[e.Conn] = i
	}
	k := exactKey{client: e.Client}
	switch {
	case g.key.OneCall:
		g.placeOnly(i)
		return
	case unread(e) && !e.Unused():
		g.open(unreadRule, i)
		return
	case e.Call != "":
		k.rule, k.id = "call-id", e.Call
	case e.Key != "":
		k.rule, k.method, k.path, k.id = "key", e.Method, e.Path, e.Key
	default:
		g.match(i)
		return
	}
	c, ok := g.exact[k]
	if !ok {
		c = g.open(k.rule, i)
		g.exact[k] = c
		return
	}
	g.extend(c, i)
}

func (g *grouper) open(rule string, i int32) int32 {
	c := int32(len(g.chains))
	g.chains = append(g.chains, chain{rule: rule, first: i, last: i, named: i, size: 1})
	g.owner[i] = c
	return c
}

func (g *grouper) extend(c, i int32) {
	ch := &g.chains[c]
	prev, e := &g.entries[ch.last], &g.entries[i]
	if g.isResend(prev, e, ch.last) {
		if g.resent == nil {
			g.resent = make([]bool, len(g.entries))
		}
		g.resent[ch.last] = true
		ch.resends++
	} else {
		ch.size++
		ch.longest = max(ch.longest, e.At-prev.End())
	}
	ch.last = i
	g.owner[i] = c
}

// calls lays the attempts of each call next to each other and cuts the calls out.
func (g *grouper) calls(entries []journal.Entry) []Call {
	attempts := make([]journal.Entry, len(entries))
	next := make([]int32, len(g.chains))
	calls := make([]Call, len(g.chains))
	at := int32(0)
	for c, ch := range g.chains {
		next[c] = at
		calls[c] = Call{
			ID: g.id(ch), Client: entries[ch.first].Client, Attempts: attempts[at : at+ch.size : at+ch.size],
			Rule: ch.rule, Ambiguous: ch.ambiguous, Run: g.key.Run,
		}
		at += ch.size
		if ch.resends > 0 {
			calls[c].Resent = make([]journal.Entry, 0, ch.resends)
		}
	}
	for i := range entries {
		c := g.owner[i]
		if g.resent != nil && g.resent[i] {
			calls[c].Resent = append(calls[c].Resent, entries[i])
			continue
		}
		attempts[next[c]] = entries[i]
		next[c]++
	}
	if times := unreadTimes(calls); times != nil {
		for i := range calls {
			calls[i].unread = times[calls[i].Client]
		}
	}
	return calls
}

// id names a call: what the request or the driver says where they do, else its first entry.
func (g *grouper) id(c chain) string {
	e := &g.entries[c.named]
	switch c.rule {
	case "driver":
		return e.Client + " " + e.Method + " " + e.Path
	case "call-id":
		return e.Call
	case "key":
		return e.Key
	default: // also of bare connections
		return "#" + strconv.FormatUint(e.Seq, 10)
	}
}

// ordered returns the entries in order of arrival, copied only if they are not so already.
func ordered(entries []journal.Entry) []journal.Entry {
	for i := 1; i < len(entries); i++ {
		if entries[i].At < entries[i-1].At {
			sorted := slices.Clone(entries)
			slices.SortStableFunc(sorted, func(a, b journal.Entry) int {
				return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq))
			})
			return sorted
		}
	}
	return entries
}
