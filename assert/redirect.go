package assert

import (
	"net/url"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// followWithin is how long after a redirect its target may be asked for, unless a Retry-After says more.
const followWithin = 10 * time.Second

// target is what a client asks for when it follows a redirect. The host is not kept: a client is known by its name on
// every address of the server.
type target struct{ client, path, query string }

// redirected is a redirect that nobody followed yet.
type redirected struct{ chain, entry int32 }

// isRedirect reports whether the answer names another place for the same thing.
func isRedirect(e *journal.Entry) bool {
	switch e.Status {
	case 301, 302, 303, 307, 308:
		return e.Rare != nil && e.Rare.Location != "" && !e.Cut && !e.Open && e.Gone == 0
	}
	return false
}

// targetOf is where the answer sends its client; ok is false if it sends it nowhere.
func targetOf(e *journal.Entry) (t target, ok bool) {
	if !isRedirect(e) {
		return target{}, false
	}
	path, err := url.PathUnescape(e.Path)
	if err != nil {
		return target{}, false
	}
	base := url.URL{Scheme: "http", Host: "server", Path: path, RawPath: e.Path}
	to, err := base.Parse(e.Rare.Location)
	if err != nil {
		return target{}, false
	}
	t = target{e.Client, to.EscapedPath(), to.RawQuery}
	if t.path == "" {
		t.path = "/"
	}
	return t, true
}

// point notes where entry i, of chain c, sends its client.
func (g *grouper) point(c, i int32) {
	e := &g.entries[i]
	t, ok := targetOf(e)
	if !ok {
		return
	}
	if g.redirects == nil {
		g.redirects = map[target][]redirected{}
	}
	list := g.redirects[t]
	if len(list) == cap(list) { // now and then, those that will not be followed any more go
		list = slices.DeleteFunc(list, func(r redirected) bool { return g.over(r, e.At) })
	}
	g.redirects[t] = append(list, redirected{c, i})
}

// follow finds the call whose redirect entry i follows: each redirect leads to one request, by a method that it allows, and
// soon. Of several the oldest with the same body counts.
func (g *grouper) follow(i int32) (c int32, ok bool) {
	if len(g.redirects) == 0 {
		return 0, false
	}
	e := &g.entries[i]
	t := target{e.Client, e.Path, e.Query}
	list := slices.DeleteFunc(g.redirects[t], func(r redirected) bool { return g.over(r, e.At) })
	leads := func(same bool) func(redirected) bool {
		return func(r redirected) bool {
			from := &g.entries[r.entry]
			return endOf(from) <= e.At+overlap && allowsMethod(from, e) && (!same || from.BodySum == e.BodySum)
		}
	}
	at := slices.IndexFunc(list, leads(true))
	if at < 0 && len(list) == 1 { // a body may get lost on the way, and then that is what was followed all the same
		at = slices.IndexFunc(list, leads(false))
	}
	if at >= 0 {
		c, ok = list[at].chain, true
		g.chains[c].ambiguous = g.chains[c].ambiguous || len(list) > 1
		list = slices.Delete(list, at, at+1)
	}
	if len(list) == 0 {
		delete(g.redirects, t)
	} else {
		g.redirects[t] = list
	}
	return c, ok
}

// over reports whether a redirect will not be followed any more: the call went on otherwise, or too long ago.
func (g *grouper) over(r redirected, now time.Duration) bool {
	from := &g.entries[r.entry]
	return g.chains[r.chain].last != r.entry || now-endOf(from) > followWithin+patience(from, g.key.Run)
}

// allowsMethod reports whether a redirect may turn one request into the other (RFC 9110 15.4): 303 asks for a GET, 301 and
// 302 let a POST become one, 307 and 308 leave the request as it is.
func allowsMethod(from, next *journal.Entry) bool {
	get := next.Method == "GET" || next.Method == "HEAD"
	switch from.Status {
	case 303:
		return get
	case 301, 302:
		return next.Method == from.Method || from.Method == "POST" && get
	default:
		return next.Method == from.Method
	}
}
