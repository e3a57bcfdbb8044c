package faultserver

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gorilla/mux"
)

// newRouter returns a router that takes paths as the client sent them: a fault server must not redirect or tidy paths on
// its own account.
func newRouter() *mux.Router { return mux.NewRouter().SkipClean(true).UseEncodedPath() }

// route adds the match to a router, behind other matchers. The error is the first that mux finds.
func (m Match) route(router *mux.Router, before ...mux.MatcherFunc) (route *mux.Route, err error) {
	defer func() {
		// mux panics on one kind of bad template and returns errors for all others.
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
		if err != nil {
			err = errors.New(strings.TrimPrefix(err.Error(), "mux: ")) // it says nothing to who writes a plan
		}
	}()
	route = router.NewRoute()
	for _, f := range before {
		route.MatcherFunc(f)
	}
	if len(m.Methods) > 0 {
		// Not Route.Methods: after a method that differs, mux goes on to the other matchers, and would count a request that
		// the rule does not match.
		route.MatcherFunc(m.method)
	}
	if m.Host != "" {
		route.Host(m.Host)
	}
	if m.PathPrefix != "" {
		route.PathPrefix(m.PathPrefix)
	}
	if m.Path != "" {
		route.Path(m.Path)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		route.Headers(name, m.Headers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(m.Queries)) {
		route.Queries(name, m.Queries[name])
	}
	return route, route.GetError()
}

func (m Match) method(r *http.Request, _ *mux.RouteMatch) bool {
	return slices.ContainsFunc(m.Methods, func(method string) bool { return strings.EqualFold(method, r.Method) })
}

// covers reports whether every request that meets other meets m too. When it cannot tell, it says no.
func (m Match) covers(other Match) bool {
	return m.coversMethods(other) &&
		(m.Host == "" || m.Host == other.Host) &&
		m.coversPath(other) &&
		within(m.Headers, other.Headers) &&
		within(m.Queries, other.Queries)
}

// apart reports whether no request meets both. When it cannot tell, it says no.
func (m Match) apart(other Match) bool {
	if a, b := m.Path+m.PathPrefix, other.Path+other.PathPrefix; !strings.Contains(a+b, "{") {
		switch {
		case a != b && m.Path != "" && other.Path != "",
			m.PathPrefix != "" && other.Path != "" && !strings.HasPrefix(b, a),
			m.Path != "" && other.PathPrefix != "" && !strings.HasPrefix(a, b),
			m.PathPrefix != "" && other.PathPrefix != "" && !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a):
			return true
		}
	}
	shared := func(method string) bool { return m.method(&http.Request{Method: method}, nil) }
	return len(m.Methods) > 0 && len(other.Methods) > 0 && !slices.ContainsFunc(other.Methods, shared)
}

func (m Match) coversMethods(other Match) bool {
	if len(m.Methods) == 0 {
		return true
	}
	for _, method := range other.Methods {
		if !m.method(&http.Request{Method: method}, nil) {
			return false
		}
	}
	return len(other.Methods) > 0
}

func (m Match) coversPath(other Match) bool {
	switch {
	case m.Path == "" && m.PathPrefix == "":
		return true
	case pattern(m) == pattern(other):
		return true
	case m.PathPrefix != "" && !strings.Contains(m.PathPrefix, "{"):
		return strings.HasPrefix(other.Path, m.PathPrefix) || strings.HasPrefix(other.PathPrefix, m.PathPrefix)
	case other.Path != "" && !strings.Contains(other.Path, "{"):
		// A path without variables is one path: whether m takes it is a question that mux answers.
		route, err := Match{Path: m.Path, PathPrefix: m.PathPrefix}.route(newRouter())
		if err != nil {
			return false
		}
		path, err := url.PathUnescape(other.Path)
		return err == nil && route.Match(&http.Request{URL: &url.URL{Path: path, RawPath: other.Path}}, &mux.RouteMatch{})
	default:
		return false
	}
}

// pattern is the regular expression behind the path template, in which the names of variables do not matter.
func pattern(m Match) string {
	route, err := Match{Path: m.Path, PathPrefix: m.PathPrefix}.route(newRouter())
	if err != nil {
		return "invalid: " + err.Error()
	}
	text, _ := route.GetPathRegexp()
	return text
}

// within reports whether what the conditions in few ask for is asked for in many too.
func within(few, many map[string]string) bool {
	for name, value := range few {
		wanted, ok := many[name]
		if !ok || (value != "" && value != wanted) {
			return false
		}
	}
	return true
}
