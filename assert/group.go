package assert

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Calls groups entries into calls, ordered by their first attempts. Rules, the first that applies: the driver's word
// (Key.OneCall); the id that the request carries for the whole call, or its idempotency key; else the same client, method,
// path, query, range and body, after a failure and soon enough, of which those with the same trace id count first. What
// follows a redirect, and what answers a 401 or 407, belongs to the call that was sent there. Repeats by a transport or a
// proxy become Parts of their call, each kind so often at most that no storm hides behind it. An attempt that a fault ended
// before a request was read is a call of its own, under the rule "connection", unless the driver's word says more.
// Connections that the client did not use belong to no call, unless they are so many that they are a storm: see Unused. One
// copy of the entries is made, unless Key.InPlace saves it; Attempts are parts of it.
func Calls(entries []journal.Entry, key Key) []Call {
	entries = ordered(used(entries))
	g := newGrouper(entries, key)
	for i := range entries {
		g.place(int32(i))
	}
	return g.calls(entries)
}

// The grouping rules.
const (
	driverRule = "driver"  // Key.OneCall
	idRule     = "call-id" // a header that stays equal over the attempts of a call by design
	keyRule    = "key"     // the idempotency key
	traceRule  = "trace"   // a match with the same trace id
	matchRule  = "match"
)

// grouper assigns entries to calls in one pass. It works on indices: entries are large.
type grouper struct {
	entries []journal.Entry
	key     Key
	exact   map[exactKey]int32
	latest  map[string]int32 // chain of each client's last entry, where it makes one call
	waiting map[matchKey]*queue
	traced  map[string]bool // clients that keep their trace id over the attempts of a call
	pollers map[matchKey]poll
	dead    map[uint64]int32 // first entry on each connection that died without a status line
	chains  []chain
	owner   []int32    // chain of each entry
	parts   []PartKind // of each entry; allocated when one is found

	races      map[matchKey]*race // what is under way, where copies were agreed on
	redirects  map[target][]redirected
	challenged map[challenge]int32
	families   map[exactKey]*family // by route
	children   map[matchKey]int32   // chains with changed requests, where a client makes one call
}

// chain is a call in the making.
type chain struct {
	rule        string
	first, last int32 // entries
	named       int32 // the first entry with a request
	size        int32 // attempts, without parts
	parts       int32
	of          int32         // chain whose request it changed
	longest     time.Duration // longest gap so far
	hops        int8          // by which proxies repeated the last attempt
	refused     bool          // a stream of it was refused
	routed      bool          // another route was asked under its id before
	ambiguous   bool
	changed     Change
}

type exactKey struct{ rule, client, method, path, id string }

func newGrouper(entries []journal.Entry, key Key) *grouper {
	if key.Table == nil {
		key.Table = StrictResponses()
	}
	if key.Run == nil {
		key.Run = watched(entries)
	}
	return &grouper{
		entries: entries, key: key,
		exact: map[exactKey]int32{}, latest: map[string]int32{}, waiting: map[matchKey]*queue{}, traced: map[string]bool{},
		pollers: map[matchKey]poll{}, families: map[exactKey]*family{},
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

// place finds the call of entry i, and notes what follows from it.
func (g *grouper) place(i int32) {
	e := &g.entries[i]
	if first, ok := g.dead[e.Conn]; ok && first < 0 {
		g.dead[e.Conn] = i
	}
	switch {
	case g.key.OneCall:
		g.placeOnly(i)
	case unread(e) && !e.Unused():
		g.open(unreadRule, i)
		return
	default:
		g.placeAmong(i)
	}
	g.point(g.owner[i], i)
	g.upset(g.owner[i], i)
}

// placeAmong places a request of a client that makes many calls.
func (g *grouper) placeAmong(i int32) {
	e := &g.entries[i]
	c, ok := g.answered(i)
	switch k, exact := exactly(e); {
	case ok:
		g.extend(c, i)
	case exact:
		g.placeNamed(k, i)
	default:
		if c, ok = g.follow(i); ok {
			g.extend(c, i)
			if failed(e) {
				g.wait(matchOf(e), c, i)
			}
		} else {
			g.match(i)
		}
	}
	g.challengedBy(g.owner[i], i)
}

// exactly tells by what the request names its call, if it does. Most ids are idempotency keys.
func exactly(e *journal.Entry) (k exactKey, ok bool) {
	switch {
	case e.Call != "" && e.Call == e.Key:
		return exactKey{rule: keyRule, client: e.Client, id: e.Call}, true
	case e.Call != "":
		return exactKey{rule: idRule, client: e.Client, id: e.Call}, true
	case e.Key != "": // of a history that knows no more: a key may be good for one route
		return exactKey{rule: keyRule, client: e.Client, method: e.Method, path: e.Path, id: e.Key}, true
	default:
		return exactKey{}, false
	}
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
	if kind := g.replaced(ch, prev, e); kind != 0 {
		if g.parts == nil {
			g.parts = make([]PartKind, len(g.entries))
		}
		g.parts[ch.last] = kind
		ch.parts++
	} else {
		ch.size++
		ch.hops = 0
		ch.longest = max(ch.longest, e.At-endOf(prev))
	}
	ch.last = i
	g.owner[i] = c
}

// calls lays the attempts of each call next to each other and cuts the calls out.
func (g *grouper) calls(entries []journal.Entry) []Call {
	attempts := entries
	if !g.key.InPlace {
		attempts = slices.Clone(entries)
	}
	next := make([]int32, len(g.chains))
	calls := make([]Call, len(g.chains))
	at := int32(0)
	for c, ch := range g.chains {
		next[c] = at
		calls[c] = Call{
			ID: g.id(ch), Client: entries[ch.first].Client, Attempts: attempts[at : at+ch.size : at+ch.size],
			Rule: ch.rule, By: g.by(ch), Ambiguous: ch.ambiguous, Run: g.key.Run, hedges: g.key.Hedges, table: g.key.Table,
		}
		if ch.changed != "" {
			calls[c].Changed, calls[c].Of = ch.changed, calls[ch.of].ID
		}
		at += ch.size
		if ch.parts > 0 {
			calls[c].Parts = make([]Part, 0, ch.parts)
		}
	}
	for i := range attempts {
		c := g.owner[i]
		if g.parts != nil && g.parts[i] != 0 {
			calls[c].Parts = append(calls[c].Parts, Part{g.parts[i], attempts[i]})
			g.owner[i] = at // behind all attempts, where nobody looks
			at++
			continue
		}
		g.owner[i] = next[c]
		next[c]++
	}
	layOut(attempts, g.owner)
	if times := unreadTimes(calls); times != nil {
		for i := range calls {
			calls[i].unread = times[calls[i].Client]
		}
	}
	return calls
}

// layOut moves each entry to its place. A place that is right is noted there, so that each entry moves once.
func layOut(entries []journal.Entry, places []int32) {
	for i := range entries {
		for to := places[i]; int(to) != i; to = places[i] {
			entries[i], entries[to] = entries[to], entries[i]
			places[i], places[to] = places[to], to
		}
	}
}

// id names a call: what the request or the driver says where they do, else its first entry.
func (g *grouper) id(c chain) string {
	e := &g.entries[c.named]
	route := ""
	if c.routed {
		route = " " + e.Method + " " + e.Path
	}
	switch c.rule {
	case driverRule:
		if c.changed == "" {
			return e.Client + " " + e.Method + " " + e.Path
		}
		return e.Client + " " + e.Method + " " + e.Path + " #" + strconv.FormatUint(e.Seq, 10)
	case idRule:
		return e.Call + route
	case keyRule:
		return e.Key + route
	default: // also of bare connections
		return "#" + strconv.FormatUint(e.Seq, 10)
	}
}

// by names the header that the call's id was read from.
func (g *grouper) by(c chain) string {
	if e := &g.entries[c.named]; e.Rare != nil && (c.rule == idRule || c.rule == keyRule) {
		return e.Rare.CallBy
	}
	return ""
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
