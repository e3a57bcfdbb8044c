package assert

import (
	"strconv"
	"strings"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// Some answers ask for another request, not for the same one again. What a client then sends is a call of its own. How often
// is bounded: a client that never stops changing its request is charged with retries like any other.
const (
	mostPieces = 64 // of a request that was too large
	mostMerges = 8  // reading anew and sending again
)

// family is what came of the requests to one route that were answered so.
type family struct {
	call   int32 // the chain that the latest such answer was given to
	entry  int32 // that answer
	large  int32 // the largest request that was too large, -1 if none was
	reread bool  // and the client has read the thing anew since
	pieces int
	merges int
}

func routeOf(e *journal.Entry) exactKey {
	return exactKey{client: e.Client, method: e.Method, path: e.Path}
}

// upset notes that entry i, of chain c, was answered so that a changed request may follow, and that a thing was read anew.
func (g *grouper) upset(c, i int32) {
	e := &g.entries[i]
	switch {
	case halfway(e), brings(e) && failed(e), e.Status == 409, e.Status == 412, e.Status == 413:
		f := g.families[routeOf(e)]
		if f == nil {
			f = &family{large: -1}
			g.families[routeOf(e)] = f
		}
		f.call, f.entry, f.reread = c, i, false
		if e.Status == 413 && (f.large < 0 || g.entries[f.large].BodyLen < e.BodyLen) {
			f.large, f.pieces = i, 0
		}
	case e.Method == "GET" && succeeded(e) && len(g.families) > 0:
		for _, method := range [...]string{"PUT", "PATCH", "POST", "DELETE"} {
			if f := g.families[exactKey{client: e.Client, method: method, path: e.Path}]; f != nil {
				f.reread = true
			}
		}
	}
}

// changed tells what entry i makes of a request to the same route that was answered before; "" if nothing that is known.
func (g *grouper) changed(i int32) (of int32, how Change) {
	e := &g.entries[i]
	f := g.families[routeOf(e)]
	if f == nil {
		return 0, ""
	}
	prev := &g.entries[f.entry]
	switch {
	case endOf(prev) > e.At+overlap, e.At-endOf(prev) > firstHorizon:
		return 0, ""
	case f.large >= 0 && f.pieces < mostPieces && smaller(e, &g.entries[f.large]):
		f.pieces++
		return f.call, Split
	case (prev.Status == 409 || prev.Status == 412) && f.reread && f.merges < mostMerges && e.BodySum != prev.BodySum:
		f.merges++
		return f.call, Merged
	default:
		return 0, ""
	}
}

// smaller reports whether a request is so much smaller than one that was too large that it was split, or packed: a body
// that shrinks by a few bytes is the same again.
func smaller(e, large *journal.Entry) bool {
	return e.BodyWhole && e.BodyLen > 0 && (e.BodyLen <= large.BodyLen/4*3 || unreadBody(large))
}

// halfway reports whether a download broke off, so that its rest may be asked for.
func halfway(e *journal.Entry) bool {
	return e.Method == "GET" && e.Status >= 200 && e.Status < 300 && networkFailure(e)
}

// resumes reports whether next asks for the rest of what broke off in prev, and not from the beginning again.
func resumes(prev, next *journal.Entry) bool {
	return next.Rare != nil && halfway(prev) && rangeStart(next) > max(0, rangeStart(prev)) && prev.Path == next.Path
}

// brings reports whether a request carries a part of something larger: an upload that can be resumed.
func brings(e *journal.Entry) bool { return strings.HasPrefix(partOf(e), "bytes ") }

// goesOn reports whether next goes on with an upload, a part of which failed in prev: it asks how far it came, or sends from
// there on.
func goesOn(prev, next *journal.Entry) bool {
	return brings(prev) && failed(prev) && brings(next) && next.At-endOf(prev) <= firstHorizon
}

// resumed finds the call of which entry i asks for the rest.
func (g *grouper) resumed(i int32) (int32, bool) {
	e := &g.entries[i]
	if e.Rare == nil || e.Rare.Range == "" {
		return 0, false
	}
	f := g.families[routeOf(e)]
	if f == nil || g.chains[f.call].last != f.entry || !resumes(&g.entries[f.entry], e) && !goesOn(&g.entries[f.entry], e) {
		return 0, false
	}
	return f.call, true
}

// rangeStart reads the first byte of "bytes=500-"; -1 where none is asked for.
func rangeStart(e *journal.Entry) int64 {
	if e.Rare == nil {
		return -1
	}
	from, _, ok := strings.Cut(strings.TrimPrefix(e.Rare.Range, "bytes="), "-")
	n, err := strconv.ParseInt(from, 10, 64)
	if !ok || err != nil {
		return -1
	}
	return n
}

// relate notes that chain c, which entry i opens, is another call's request changed.
func (g *grouper) relate(c, i int32) {
	if of, how := g.changed(i); how != "" {
		g.chains[c].of, g.chains[c].changed = of, how
	}
}

// placeKnown places a request to a route that chain c has asked for, of a client that makes one call: another attempt at
// it, or its request changed, or another attempt at that.
func (g *grouper) placeKnown(c, i int32) int32 {
	e := &g.entries[i]
	if len(g.families) > 0 {
		k := matchOf(e)
		if child, ok := g.children[k]; ok {
			g.extend(child, i)
			return child
		}
		if of, how := g.changed(i); how != "" {
			child := g.open(driverRule, i)
			g.chains[child].of, g.chains[child].changed = of, how
			if g.children == nil {
				g.children = map[matchKey]int32{}
			}
			g.children[k] = child
			return child
		}
	}
	g.extend(c, i)
	return c
}
