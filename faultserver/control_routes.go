package faultserver

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// operation is one thing that the control API does. The router, the reading of requests and the description are made
// from the table of them, so that they cannot drift apart.
type operation struct {
	method, path string // of the path, {name} is a scenario's
	id, summary  string
	about        string // what the summary does not say

	parameters []*parameter
	body       bool           // it takes a plan
	answers    []content      // what 200 holds, in one of these forms
	refusals   map[int]string // what it refuses beyond what every operation does

	do func(c *Control, a *ask) (answer any, err error) // a nil answer: it has answered by itself
}

// content is a media type and the schema of what it holds.
type content struct {
	media  string
	schema map[string]any
}

const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
)

// operations returns the table. It is a function because the description, which is one of them, is made from it.
func operations() []operation {
	filter := []*parameter{pClient, pPath, pPathPrefix, pMethod, pStatus, pFault, pRule, pSince, pFrom, pTo}
	badPlan := map[int]string{
		http.StatusRequestEntityTooLarge: "the plan is larger than 1 MiB",
		http.StatusUnsupportedMediaType:  "the plan is neither JSON nor YAML",
	}
	return []operation{
		{method: http.MethodGet, path: "/v1/plan", id: "getPlan", summary: "the plan in use", answers: jsonOf(planAnswer{}),
			do: (*Control).getPlan},
		{method: http.MethodPut, path: "/v1/plan", id: "putPlan", summary: "put a plan to use", body: true, refusals: badPlan,
			about:      "It takes the place of the one before in one step, with all its counters at zero: every request meets one of the two, whole.",
			parameters: []*parameter{pReset}, answers: jsonOf(planAnswer{}), do: (*Control).putPlan},
		{method: http.MethodDelete, path: "/v1/plan", id: "deletePlan", summary: "disturb nothing from now on",
			parameters: []*parameter{pReset}, answers: jsonOf(planAnswer{}), do: (*Control).deletePlan},

		{method: http.MethodGet, path: "/v1/scenarios", id: "listScenarios", summary: "the scenarios that can be started",
			answers: jsonOf([]presetAnswer{}), do: (*Control).listScenarios},
		{method: http.MethodPost, path: "/v1/scenarios/{name}/start", id: "startScenario", summary: "put a scenario's plan to use",
			about: "As PUT /v1/plan does.", refusals: map[int]string{http.StatusNotFound: "there is no scenario of this name"},
			parameters: []*parameter{pReset}, answers: jsonOf(planAnswer{}), do: (*Control).startScenario},

		{method: http.MethodPost, path: "/v1/reset", id: "reset", summary: "start the run anew",
			about: "The journal is empty, and the clock, all counters and schedules begin again, in one step. The plan stays. " +
				"Requests still going on belong to the run before and leave no trace.",
			answers: jsonOf(countsAnswer{}), do: (*Control).reset},

		{method: http.MethodGet, path: "/v1/journal", id: "getJournal", summary: "the requests that came",
			about: "In order of arrival, also those still going on (open). As JSON Lines it is the format that retrygate verify --journal judges; " +
				"entries that a filter other than client leaves out count as lost there, so that nothing is concluded from their absence. " +
				"With follow it goes on as JSON Lines until the client leaves or the run is reset: each entry comes once, when it has ended.",
			parameters: slices.Concat(filter, []*parameter{pLimit, pFollow}),
			refusals:   map[int]string{http.StatusNotAcceptable: "Accept takes neither form"},
			answers: []content{{mediaJSON, map[string]any{"type": "array", "items": entryRef()}},
				{mediaNDJSON, map[string]any{"type": "string", "description": "a header line, then one entry a line"}}},
			do: (*Control).getJournal},
		{method: http.MethodGet, path: "/v1/counts", id: "getCounts", summary: "how many requests came, and how often each rule acted",
			answers: jsonOf(countsAnswer{}), do: (*Control).getCounts},
		{method: http.MethodGet, path: "/v1/wait", id: "wait", summary: "wait until requests came, or until it is quiet",
			about:      "Of requests and idle at least one is given; with both, both must be reached. A reset starts the count anew.",
			parameters: slices.Concat([]*parameter{pRequests, pIdle, pTimeout}, filter),
			refusals: map[int]string{http.StatusConflict: "the time was up before; reached says how far it got. " +
				"(408 and 504 would tell some clients to ask again by themselves.)"},
			answers: jsonOf(reached{}), do: (*Control).wait},

		{method: http.MethodGet, path: "/v1/health", id: "getHealth", summary: "whether this API answers", answers: jsonOf(health{}),
			do: (*Control).health},
		{method: http.MethodGet, path: "/v1/openapi.json", id: "getDescription", summary: "this description",
			answers: []content{{mediaJSON, map[string]any{"type": "object"}}}, do: (*Control).describe},
	}
}

func jsonOf(v any) []content { return []content{{mediaJSON, answerSchema(v)}} }

// routes makes the router.
func (c *Control) routes() *mux.Router {
	router := newRouter()
	for _, o := range operations() {
		router.NewRoute().Name(o.id).Methods(o.method).Path(o.path).HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c.carryOut(o, w, r)
		})
	}
	router.NotFoundHandler = http.HandlerFunc(noRoute)
	router.MethodNotAllowedHandler = router.NotFoundHandler
	return router
}

// ServeHTTP carries a request out, or says what is wrong with it.
func (c *Control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	conn, soon := http.NewResponseController(w), time.Now().Add(controlPatience)
	takeBy(conn, soon)
	if r.ContentLength != 0 { // net/http reads bodies to their end before it sends an answer
		sendBy(conn, soon)
	}
	if err := c.guard(r); err != nil {
		refused(w, err)
		return
	}
	c.router.ServeHTTP(w, r)
}

// noRoute says what there is instead. It tells a wrong method from a wrong path by itself: mux loses the one once it has
// looked at a further route.
func noRoute(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	var paths, methods []string
	for _, o := range operations() {
		paths = append(paths, o.path)
		if newRouter().NewRoute().Path(o.path).Match(&http.Request{URL: r.URL}, &mux.RouteMatch{}) {
			methods = append(methods, o.method)
		}
	}
	if len(methods) == 0 {
		refused(w, refuse(http.StatusNotFound, "there is no %s%s", path, registry.Suggest(path, slices.Compact(paths))))
		return
	}
	allowed := strings.Join(methods, ", ")
	e := refuse(http.StatusMethodNotAllowed, "%s takes %s, not %s", path, allowed, r.Method)
	e.header = http.Header{"Allow": {allowed}}
	refused(w, e)
}
