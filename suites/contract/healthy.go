package contract

import (
	"fmt"
	"path"
	"strings"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/suites/driver"
)

// route is what a request asks for.
type route struct{ method, path string }

func (r route) String() string { return r.method + " " + r.path }

func routeOf(e *journal.Entry) route { return route{e.Method, e.Path} }

// healthy is what one client asks for while all is well. Grouping requests into calls rests on it: what it asks for once
// there is one call under faults, whatever it takes; what it asks for twice cannot be told from a repeat.
type healthy struct {
	count map[route]int
	total int
}

func healthyOf(look *driver.Preflight) healthy {
	h := healthy{count: map[route]int{}}
	for _, r := range look.Requests {
		h.count[route{r.Method, r.Path}] += r.Count
		h.total += r.Count
	}
	return h
}

// weigh takes back what the results claim beyond what the healthy run lets them know.
func (o *outcome) weigh(h healthy, c *assert.Contract) {
	for id, res := range o.results {
		switch {
		case res.Verdict == assert.Fail:
			res = o.excuse(res, h, c)
		case res.Verdict == assert.Pass && id == "stop-after-success":
			res = o.unsay(res, h)
		case res.Verdict == assert.Pass && kindOf(id).Proof != assert.ByCall: // a repeat in disguise escapes it
			res = o.suspect(res, h)
		}
		o.results[id] = res
	}
	if res, ok := o.results["amplification-factor"]; ok && res.Verdict != assert.Fail {
		o.results["amplification-factor"] = o.multiply(res, h, c)
	}
}

// kindOf is what is known about a clause of the contract.
func kindOf(id string) assert.Kind {
	kind, _ := assert.Kinds.Get(id)
	return kind
}

// excuse makes a breach undecided when the requests that show it may be calls of their own: the client asks for the same
// thing more than once even while all is well, and does not say which request belongs to which call. What never became a
// request may have been meant for anything that the client asks for.
func (o *outcome) excuse(res assert.Result, h healthy, c *assert.Contract) assert.Result {
	kind := kindOf(res.Clause)
	if kind.Counts || len(res.Witness) == 0 {
		return res
	}
	last := res.Witness[len(res.Witness)-1]
	what, n := routeOf(&last).String(), h.count[routeOf(&last)]
	for _, e := range res.Witness {
		if routeOf(&e) == (route{}) {
			last, what, n = e, "something", h.total
		}
	}
	// At work the id is the driver's: one for all that the client asks for in a go.
	work := !o.Scenario.Work.IsZero() && h.total > 1 && kind.Proof != assert.ByCall
	switch {
	case work:
	case res.Clause == "connection-discipline": // calls side by side have connections of their own
		what, n = "something", h.total
	case res.Clause == "identical-payload-rate": // whatever their ids, calls for one thing have one payload
	case last.Call != "" || last.Key != "":
		return res
	}
	if n < 2 && !work {
		return res
	}
	bound := n
	switch {
	case kind.Proof == assert.ByCap:
		bound = n * max(1, c.Requests())
	case kind.Proof == assert.ByRepeat && res.Witness[0].Status == 401:
		bound = 2 * n // each call may answer one challenge
	}
	sent := 0
	for i := range o.History.Entries {
		if e := &o.History.Entries[i]; e.Client == last.Client && routeOf(e) == routeOf(&last) && (!work || e.Call == last.Call) {
			sent++
		}
	}
	if kind.Proof != assert.ByCall && sent > bound {
		return res
	}
	res.Verdict, res.Witness = assert.Inconclusive, nil
	if work && n < 2 {
		what, n = "something", h.total
	}
	res.Detail += fmt.Sprintf("; but the client asks for %s %d times in a run even while all is well, so this may be a call of its own: "+
		"let the command make one call, or send an id with each (Idempotency-Key, X-Retrygate-Call)", what, n)
	return res
}

// unsay takes a pass of stop-after-success back where the client always asks for the same thing again: what follows a success
// is then a call of its own, or a repeat, and nothing tells which.
func (o *outcome) unsay(res assert.Result, h healthy) assert.Result {
	for i := range o.History.Entries {
		e := &o.History.Entries[i]
		if n := h.count[routeOf(e)]; n > 1 && e.Call == "" && e.Key == "" {
			return assert.Result{Clause: res.Clause, Verdict: assert.NotExercised, Detail: fmt.Sprintf(
				"the client asks for %s %d times in a run even while all is well, so what follows a success cannot be told from a repeat; "+
					"an id with each call (Idempotency-Key, X-Retrygate-Call) would tell", routeOf(e), n)}
		}
	}
	return res
}

// suspect makes a kept clause undecided when a failure was followed by a request for something much like what had failed,
// which the client does not ask for while all is well: it may be a repeat under another name.
func (o *outcome) suspect(res assert.Result, h healthy) assert.Result {
	failed := map[string][]*journal.Entry{}
	for i := range o.History.Entries {
		e := &o.History.Entries[i]
		if routeOf(e) == (route{}) { // no request was read, so it has no name that could hide it
			continue
		}
		if h.count[routeOf(e)] == 0 {
			for _, f := range failed[e.Client] {
				if alike(f, e) {
					res.Verdict = assert.Inconclusive
					res.Detail += fmt.Sprintf("; but after %s had failed, %s asked for %s, which it does not while all is well, and which may be a repeat",
						routeOf(f), e.Client, routeOf(e))
					return res
				}
			}
		}
		if assert.Failed(*e) && len(failed[e.Client]) < mostFailed {
			failed[e.Client] = append(failed[e.Client], e)
		}
	}
	return res
}

// mostFailed bounds how many failures of a client a later request is compared with.
const mostFailed = 50

// alike reports whether one request could be the other under a new name: the same method and body, and paths that differ
// only in how they are written or in their last part.
func alike(a, b *journal.Entry) bool {
	if a.Method != b.Method || a.BodySum != b.BodySum {
		return false
	}
	x, y := path.Clean(strings.ToLower(a.Path)), path.Clean(strings.ToLower(b.Path))
	return x == y || strings.HasPrefix(x, y+"/") || strings.HasPrefix(y, x+"/") ||
		path.Dir(x) == path.Dir(y) && path.Dir(x) != "/" ||
		a.BodySum != 0
}

// multiply fails a client that sent more than calls and their retries explain, however it spread them over paths: even if
// each attempt that the contract allows had led to a call of its own, with as many attempts.
func (o *outcome) multiply(res assert.Result, h healthy, c *assert.Contract) assert.Result {
	most, worst := 0, ""
	sent := map[string]int{}
	for i := range o.History.Entries {
		e := &o.History.Entries[i]
		if e.Status >= 300 && e.Status < 400 { // what follows is no repeat
			continue
		}
		if sent[e.Client]++; sent[e.Client] > most {
			most, worst = sent[e.Client], e.Client
		}
	}
	limit := max(1, c.Requests())
	if h.total == 0 || c.Attempts.Max == 0 || most <= h.total*limit*limit {
		return res
	}
	res.Verdict = assert.Fail
	res.Detail = fmt.Sprintf("%s sent %d requests, where it sends %d while all is well; the contract allows %d for each call, "+
		"and even calls that each of them had led to would make no more than %d", worst, most, h.total, limit, h.total*limit*limit)
	for _, e := range o.History.Entries {
		if e.Client == worst && len(res.Witness) < limit+1 {
			res.Witness = append(res.Witness, e)
		}
	}
	return res
}
