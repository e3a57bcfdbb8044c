package faultserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/faultserver"
)

// problem is what the API says is wrong.
type problem struct {
	Type, Title, Detail string
	Status              int
	Errors              []struct {
		Detail, Pointer, Parameter, Header string
		Line, Column                       int
	}
}

// places lists the errors as "place: detail".
func (p problem) places() (all []string) {
	for _, e := range p.Errors {
		switch {
		case e.Pointer != "":
			all = append(all, fmt.Sprintf("%s %d:%d: %s", e.Pointer, e.Line, e.Column, e.Detail))
		default:
			all = append(all, e.Parameter+e.Header+": "+e.Detail)
		}
	}
	return all
}

var badInput = []struct {
	name, request, body string
	media               string // of the body
	status              int
	want                []string // the errors; for a single line without a place, the detail
}{
	// Plans.
	{"unknown kind", "PUT /v1/plan", `{"rules": [{"fault": {"stauts": {"code": 503}}}]}`, "application/json", 400,
		[]string{`#/rules/0/fault/stauts 1:23: unknown fault kind "stauts"; did you mean status?`}},
	{"unknown field", "PUT /v1/plan", "rules:\n  - fault: 503\n    mtach: {path: /a}\n", "application/yaml", 400,
		[]string{`#/rules/0/mtach 3:5: unknown field "mtach"; did you mean match?`}},
	{"status 99", "PUT /v1/plan", `{"rules": [{"fault": 99}]}`, "application/json", 400, []string{`#/rules/0/fault 1:22: code: 99 is `}},
	{"probability 1.5", "PUT /v1/plan", "rules: [{chance: 1.5, fault: 503}]", "application/yaml", 400,
		[]string{`#/rules/0/chance 1:18: chance is 1.5, but a likelihood is more than 0, up to 1`}},
	{"two bodies", "PUT /v1/plan", `{"rules": [{"fault": 503, "steps": [503]}]}`, "application/json", 400,
		[]string{`#/rules/0/steps 1:36: fault and steps exclude each other`}},
	{"one key twice", "PUT /v1/plan", `{"rules": [{"fault": {"status": {"code": 503, "body": "a", "body": "b"}}}]}`, "application/json", 400,
		[]string{`#/rules/0/fault/status/body 1:60: "body" stands here a second time`}},
	{"inert setting", "PUT /v1/plan", "rules: [{fault: 503}, {match: {path: /x}, fault: 500}]", "application/yaml", 400,
		[]string{`#/rules/1 1:23: this rule can never act: rule rule-1 before it takes all of its requests`}},
	{"never on", "PUT /v1/plan", "rules: [{when: {first: 0}, fault: 503}]", "application/yaml", 400,
		[]string{`#/rules/0/when 1:16: first is 0, so the rule is never on`}},
	{"key that a pointer escapes", "PUT /v1/plan", `{"rules": [{"match": {"headers": {"a/b %": 1}}, "fault": 503}]}`, "application/json", 400,
		[]string{`#/rules/0/match/headers/a~1b%20%25 1:44: found the number 1; want text`}},
	{"all at once", "PUT /v1/plan", "rules:\n  - {name: a, faul: 503}\n  - {chance: 2, fault: 99}\n  - {match: {methods: [PSOT]}, fault: 500}\n", "application/yaml", 400,
		[]string{`#/rules/0/faul 2:15: unknown field "faul"`, `#/rules/1/chance 3:14: chance is 2`, `#/rules/1/fault 3:24: code: 99 is`, `#/rules/2/match/methods 4:23: unknown method "PSOT"; did you mean POST?`}},
	{"no plan", "PUT /v1/plan", `[1, 2]`, "application/json", 400, []string{`# 1:1: found a sequence; want a mapping with rules`}},
	{"a scenario", "PUT /v1/plan", "name: x\nrules: [{fault: 503}]", "application/yaml", 400, []string{`#/name 1:1: unknown field "name"`}},
	{"empty", "PUT /v1/plan", " \n", "application/json", 400, []string{`the plan is empty; write {"rules": [...]}, or DELETE the plan to disturb nothing`}},
	{"broken JSON", "PUT /v1/plan", "{\n \"rules\": [{\"é\": 1},]\n}", "application/json", 400,
		[]string{`# 2:21: not valid JSON: invalid character ']' looking for beginning of value`}},
	{"cut off JSON", "PUT /v1/plan", `{"rules": [`, "application/json", 400, []string{`# 1:11: not valid JSON: unexpected end of JSON input`}},
	{"YAML called JSON", "PUT /v1/plan", "rules: []", "application/json", 400, []string{`# 1:1: not valid JSON: invalid character 'r' looking for beginning of value`}},
	{"broken YAML", "PUT /v1/plan", "rules:\n  - fault: {", "application/yaml", 400, []string{`# 2:12: not valid YAML: could not find flow mapping end`}},
	{"aliases", "PUT /v1/plan", "rules: &a [*a]", "application/yaml", 400, []string{`# 1:8: anchors are refused`, `# 1:12: aliases are refused`}},
	{"not text", "PUT /v1/plan", "rules: \xff", "application/yaml", 400, []string{`# 1:8: not UTF-8 text`}},
	{"10 MB", "PUT /v1/plan", "rules: [" + strings.Repeat(" ", 10<<20) + "]", "application/yaml", 413, []string{`the plan is larger than the 1048576 bytes that are read`}},
	{"a form", "PUT /v1/plan", `rules=1`, "application/x-www-form-urlencoded", 415,
		[]string{`Content-Type: Content-Type "application/x-www-form-urlencoded" is not one of a plan; send application/json or application/yaml`}},
	{"another charset", "PUT /v1/plan", `{"rules":[]}`, "application/json; charset=latin1", 415, []string{`Content-Type: a plan is UTF-8 text, not latin1`}},
	{"no media type", "PUT /v1/plan", `{"rules":[]}`, "json;", 415, []string{`Content-Type: Content-Type "json;" is not one of a plan`}},

	// Routes.
	{"unknown path", "GET /v1/plans", "", "", 404, []string{`there is no /v1/plans; did you mean /v1/plan?`}},
	{"path without version", "GET /plan", "", "", 404, []string{`there is no /plan; known: /v1/plan, /v1/scenarios`}},
	{"path to be tidied", "GET //v1/plan", "", "", 404, []string{`there is no //v1/plan; did you mean /v1/plan?`}},
	{"wrong method", "POST /v1/plan", "{}", "application/json", 405, []string{`/v1/plan takes GET, PUT, DELETE, not POST`}},
	{"wrong method of a scenario", "GET /v1/scenarios/outage/start", "", "", 405, []string{`/v1/scenarios/outage/start takes POST, not GET`}},
	{"HEAD", "HEAD /v1/journal", "", "", 405, nil},
	{"unknown scenario", "POST /v1/scenarios/outgae/start", "", "", 404, []string{`unknown scenario "outgae"; did you mean outage?`}},
	{"body where none is wanted", "POST /v1/reset", `{"plan": true}`, "application/json", 400, []string{`POST /v1/reset takes no body`}},
	{"body of a GET", "GET /v1/plan", "x", "", 400, []string{`GET /v1/plan takes no body`}},

	// Parameters.
	{"unknown parameter", "GET /v1/journal?cleint=a", "", "", 400, []string{`cleint: unknown parameter "cleint"; did you mean client?`}},
	{"parameter of another", "POST /v1/reset?reset=true", "", "", 400, []string{`reset: unknown parameter "reset"`}},
	{"parameters all at once", "GET /v1/journal?since=-1&limit=0&follow=yes&status=99&foo=1&client=", "", "", 400, []string{
		`client: client: it is empty; leave it out to take all`,
		`follow: follow: "yes" is neither true nor false`,
		`foo: unknown parameter "foo"; known: client, path, path-prefix`,
		`limit: limit: "0" is no whole number from 1 on`,
		`since: since: "-1" is no seq`,
		`status: status: "99" is no status; write one such as 503, a class such as 5xx, or none`}},
	{"one value twice", "GET /v1/journal?since=1&since=2", "", "", 400, []string{`since: since is given 2 times; it takes one value`}},
	{"unknown fault", "GET /v1/journal?fault=latncy%2Bstatus", "", "", 400, []string{`fault: fault: unknown fault "latncy"; did you mean latency?`}},
	{"times without a unit", "GET /v1/journal?from=5&to=tomorrow", "", "", 400, []string{
		`from: from: "5" is no time; write how long after the run began, as in 1.5s, or a date`, `to: to: "tomorrow" is no time`}},
	{"no time between", "GET /v1/journal?from=5s&to=5s", "", "", 400, []string{`to: to is not after from, so no request is between them`}},
	{"before the run", "GET /v1/journal?from=-5s", "", "", 400, []string{`from: from: -5s is before the run began`}},
	{"query that is none", "GET /v1/journal?client=%zz", "", "", 400, []string{`the query cannot be read: invalid URL escape "%zz"`}},
	{"wait for nothing", "GET /v1/wait?timeout=5s", "", "", 400, []string{`requests: say what to wait for: requests=N, idle=2s, or both`}},
	{"waits", "GET /v1/wait?requests=many&idle=-1s&timeout=30", "", "", 400, []string{
		`idle: idle: -1s is no time to wait; it takes more than 0s`, `requests: requests: "many" is no whole number from 1 on`,
		`timeout: timeout: "30" has no unit; write 30s or 30ms`}},
	{"waits too long", "GET /v1/wait?requests=1&timeout=2h", "", "", 400, []string{`timeout: timeout: 2h0m0s is longer than 1h0m0s; wait again when that has passed`}},
}

// Bad input is told as a problem that names the place, and changes nothing.
func TestBadInputChangesNothing(t *testing.T) {
	for _, c := range badInput {
		t.Run(c.name, func(t *testing.T) {
			piloted(t, func(t *testing.T, w *world, p *pilot) {
				w.use(t, faultserver.Rule{Name: "before", Fault: status(503)})
				w.do(t, "GET /")
				before := fmt.Sprint(p.counts(t).Requests, string(p.ask(t, "GET /v1/plan", "").body))
				headers := []string{}
				if c.media != "" {
					headers = append(headers, "Content-Type", c.media)
				}
				r := p.open(t, c.request, c.body, headers...)
				r.Body.Close()
				if r.StatusCode != c.status || r.Header.Get("Content-Type") != "application/problem+json" || r.Header.Get("Cache-Control") != "no-store" {
					t.Errorf("%d, want %d; %v", r.StatusCode, c.status, r.Header)
				}
				if allow := r.Header.Get("Allow"); (allow != "") != (c.status == 405) {
					t.Errorf("Allow: %q", allow)
				}
				if method, _, _ := strings.Cut(c.request, " "); method != "HEAD" {
					tellsWhatIsWrong(t, p.ask(t, c.request, c.body, headers...), c.want)
				}
				if after := fmt.Sprint(p.counts(t).Requests, string(p.ask(t, "GET /v1/plan", "").body)); after != before {
					t.Errorf("before %s\nafter  %s", before, after)
				}
			})
		})
	}
}

func tellsWhatIsWrong(t *testing.T, r reply, want []string) {
	t.Helper()
	var got problem
	r.read(t, &got)
	if got.Type != "about:blank" || got.Status != r.status || got.Title != http.StatusText(r.status) || got.Detail == "" {
		t.Errorf("%s", r.body)
	}
	places := got.places()
	if places == nil {
		places = []string{got.Detail}
	}
	for i, place := range places {
		if i >= len(want) || !strings.HasPrefix(place, want[i]) {
			t.Errorf("got  %s\nwant %q", place, want[min(i, len(want)-1):])
		}
	}
	if len(places) < len(want) {
		t.Errorf("got %q, want %q", places, want)
	}
}

func TestMistakesWithoutNumberAreBounded(t *testing.T) {
	piloted(t, func(t *testing.T, _ *world, p *pilot) {
		var got problem
		p.ask(t, "PUT /v1/plan", "rules: ["+strings.Repeat("{x: 1},", 1000)+"]").read(t, &got)
		if len(got.Errors) != 200 || got.Detail != "1000 things are wrong; errors lists the first 200" {
			t.Errorf("%d errors, %q", len(got.Errors), got.Detail)
		}
	})
}
