package faultserver

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/schedule"
)

// methods are those that a rule may name: the common ones and those of WebDAV.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions, http.MethodTrace, http.MethodConnect, "QUERY",
	"PROPFIND", "PROPPATCH", "MKCOL", "COPY", "MOVE", "LOCK", "UNLOCK", "REPORT", "SEARCH",
}

func (r Rule) wrongMatch() (found []problem) {
	m := r.Match
	if m.Methods != nil && len(m.Methods) == 0 {
		found = wrong("match.methods", "methods is empty; leave it out to match every method")
	}
	for _, method := range m.Methods {
		if !slices.Contains(methods, strings.ToUpper(method)) {
			suggestion := registry.Suggest(strings.ToUpper(method), methods)
			found = append(found, wrong("match.methods", "unknown method %q%s", method, suggestion)...)
		}
	}
	if m.Path != "" && m.PathPrefix != "" {
		return append(found, wrong("match.path-prefix", "path and path-prefix exclude each other; write the whole path, or the prefix alone")...)
	}
	before := len(found)
	for _, t := range []struct{ field, template string }{{"match.path", m.Path}, {"match.path-prefix", m.PathPrefix}} {
		if why := neverSent(t.template); why != "" {
			found = append(found, wrong(t.field, "%s %q can never match: %s", strings.TrimPrefix(t.field, "match."), t.template, why)...)
		}
	}
	if twice := sameHeader(m.Headers); twice != "" {
		found = append(found, wrong("match.headers", "%s stands there twice; case does not tell header names apart", twice)...)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		if why := neverCarried(name, m.Headers[name]); why != "" {
			found = append(found, wrong("match.headers."+name, "%s", why)...)
		}
	}
	if len(found) > before {
		return found
	}
	for _, part := range []struct {
		field string
		alone Match
	}{
		{"match.host", Match{Host: m.Host}},
		{"match.path", Match{Path: m.Path}},
		{"match.path-prefix", Match{PathPrefix: m.PathPrefix}},
		{"match.headers", Match{Headers: m.Headers}},
		{"match.queries", Match{Queries: m.Queries}},
	} {
		if _, err := part.alone.route(newRouter()); err != nil {
			found = append(found, wrong(part.field, "%v", err)...)
		}
	}
	if len(found) == before { // what is right by itself may still clash: two variables of one name
		if _, err := m.route(newRouter()); err != nil {
			found = append(found, wrong("match", "%v", err)...)
		}
	}
	return found
}

// wrongConnections finds what a rule cannot ask of connections, which it meets before there is a request.
func (r Rule) wrongConnections() (found []problem) {
	if !r.onConnections() {
		return nil
	}
	for _, f := range r.faults() {
		if f.Fault() != nil && !f.IsPass() && !f.OnConnections() {
			found = wrong("", "the rule mixes faults that act on connections with %s, which acts on requests; make two rules of it", f.Name())
			break
		}
	}
	if !r.Match.covers(Match{}) {
		found = append(found, wrong("match", "the fault acts on connections, before there is a request to match; leave match out, "+
			"and give the client a listener of its own to tell it apart")...)
	}
	if r.scope() == PerCall {
		found = append(found, wrong("per", "the fault acts on connections, which belong to no call; say per: client or per: all")...)
	}
	return found
}

func (r Rule) wrongFaults() []problem {
	var given []string
	if r.Fault.Fault() != nil {
		given = append(given, "fault")
	}
	if r.Steps != nil {
		given = append(given, "steps")
	}
	if r.Sweep != nil {
		given = append(given, "sweep")
	}
	switch {
	case len(given) == 0:
		return wrong("", "the rule says when to act, but not what to do; give it a fault, steps or a sweep")
	case len(given) > 1:
		return wrong(given[1], "%s exclude each other; a rule has one of fault, steps and sweep", strings.Join(given, " and "))
	case given[0] != "fault" && len(r.Steps)+len(r.Sweep) == 0:
		return wrong(given[0], "%s is empty, so the rule never acts; list faults, as in [503, 503, pass]", given[0])
	}
	for i, f := range r.faults() {
		if f.Fault() == nil {
			return wrong(given[0], "%s has nothing at place %d; write pass to leave a request alone", given[0], i+1)
		}
		if err := f.Check(); err != nil {
			return wrong(given[0], "%s: %s", f.Name(), oneLine(err))
		}
		if k := f.Dead(); k > 0 {
			return wrong(given[0], "in %s, the fault at place %d cannot act: the one before it settles the exchange; %s", f.Name(), k, fault.Instead)
		}
		if r.Steps != nil && r.scope() == PerCall && f.IsPass() && i < len(r.Steps)-1 {
			return wrong("steps", "steps after the pass at place %d are never reached: per call, the first request that is left alone ends the call", i+1)
		}
	}
	return nil
}

// leastChance is the smallest likelihood with any effect: a run of a million requests meets it once in a thousand runs.
const leastChance = 1e-9

// neverOn finds schedules and chances that keep the rule from ever acting. last: no other rule follows.
func (r Rule) neverOn(last bool) (found []problem) {
	if c := r.Chance; c != nil {
		switch {
		case *c == 0:
			found = wrong("chance", "chance is 0, so the rule never acts; it takes more than 0, up to 1")
		case *c > 0 && *c < leastChance:
			found = wrong("chance", "chance is %g, so the rule acts in no run; it takes %g or more, up to 1", *c, leastChance)
		case !(*c > 0 && *c <= 1): // also not a number
			found = wrong("chance", "chance is %v, but a likelihood is more than 0, up to 1", *c)
		}
	}
	if err := r.When.Check(); err != nil {
		return append(found, wrong("when", "%s", oneLine(err))...)
	}
	when := r.When.Schedule()
	if r.scope() == PerCall && last && !when.Active(0, 1) {
		found = append(found, wrong("when", "the rule never acts: it leaves the first request of a call alone, which ends the call")...)
	}
	if n := onFor(when); n < len(r.Steps) {
		found = append(found, wrong("steps", "the rule is on for %d hits, so the step at place %d is never reached", n, n+1)...)
	}
	return found
}

// onFor is for how many hits a schedule is on at most.
func onFor(when schedule.Schedule) int {
	switch s := when.(type) {
	case schedule.First:
		return int(s)
	case *schedule.First:
		return int(*s)
	case schedule.Sequence:
		return len(s.Hits)
	case *schedule.Sequence:
		return len(s.Hits)
	}
	return math.MaxInt
}
