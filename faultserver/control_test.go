package faultserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// pilot drives a server through its control API, and holds every answer against the API's description.
type pilot struct {
	*faultserver.Control
	client *http.Client
	at     string // its URL
	token  string
	doc    description
}

// presets for tests.
var presets = []faultserver.Preset{
	{Name: "outage", Summary: "All is 503.", Plan: faultserver.Plan{Name: "outage", Rules: []faultserver.Rule{{Name: "out", Fault: status(503)}}}},
	{Name: "old-path", Summary: "One path is gone.", Plan: faultserver.Plan{Name: "old-path", Rules: []faultserver.Rule{{Name: "gone", Match: faultserver.Match{Path: "/old"}, Fault: status(410)}}}},
}

// piloted runs a test of the control API in virtual time.
func piloted(t *testing.T, test func(t *testing.T, w *world, p *pilot), options ...faultserver.Option) {
	t.Helper()
	guarded(t, "", test, options...)
}

// guarded is piloted with a token.
func guarded(t *testing.T, token string, test func(t *testing.T, w *world, p *pilot), options ...faultserver.Option) {
	t.Helper()
	virtual(t, func(t *testing.T, w *world) {
		c := faultserver.NewControl(w.Server, faultserver.WithPresets(presets), faultserver.WithToken(token))
		p := &pilot{Control: c, client: w.client, at: "http://127.0.0.1:81", token: token}
		defer p.Close()
		l, err := w.network.Listen("127.0.0.1:81")
		if err != nil {
			t.Fatal(err)
		}
		go p.Serve(l)
		p.learn(t)
		test(t, w, p)
	}, options...)
}

// learn reads the description.
func (p *pilot) learn(t *testing.T) {
	t.Helper()
	if code := p.ask(t, "GET /v1/openapi.json", "").read(t, &p.doc); code != 200 {
		t.Fatalf("the description: %d", code)
	}
}

// reply is an answer of the API.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// read decodes the answer, and returns its status.
func (r reply) read(t *testing.T, into any) int {
	t.Helper()
	if err := json.Unmarshal(r.body, into); err != nil {
		t.Errorf("%v in %q", err, r.body)
	}
	return r.status
}

// ask sends a request with a body and headers, in pairs.
func (p *pilot) ask(t *testing.T, request, body string, headers ...string) reply {
	t.Helper()
	answer := p.open(t, request, body, headers...)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Errorf("%s: %v", request, err)
	}
	r := reply{answer.StatusCode, answer.Header, text}
	if p.doc != nil {
		p.doc.covers(t, request, r)
	}
	return r
}

// open is ask for answers that do not end by themselves.
func (p *pilot) open(t *testing.T, request, body string, headers ...string) *http.Response {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequestWithContext(t.Context(), method, p.at+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	answer, err := p.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// plan is the answer about a plan.
type plan struct {
	Scenario string
	Plan     json.RawMessage
	Rules    []string
}

// counts is the answer about the run.
type counts struct {
	Began    time.Time
	Elapsed  time.Duration `json:"elapsed_ns"`
	Requests int
	InFlight int `json:"in_flight"`
	Lost     int
	Rules    []struct {
		Name  string
		Fired int
	}
}

func (p *pilot) counts(t *testing.T) (c counts) {
	t.Helper()
	p.ask(t, "GET /v1/counts", "").read(t, &c)
	return c
}

// compact takes the white space out of JSON.
func compact(text []byte) string {
	var v strings.Builder
	enc := json.NewEncoder(&v)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(json.RawMessage(text))
	return strings.TrimSpace(v.String())
}

func TestPlanIsPutReadAndTakenAway(t *testing.T) {
	const asJSON = `{"rules":[{"name":"outage","match":{"path":"/a"},"when":{"first":2},"fault":503},{"steps":[429,"pass"]}]}`
	for _, c := range []struct{ name, media, text, want string }{
		{"JSON", "application/json", asJSON, asJSON},
		{"JSON with a charset", "application/json; charset=utf-8", asJSON, asJSON},
		{"JSON in an indented literal", "application/json", "\n\t\t" + strings.ReplaceAll(asJSON, ",", ",\n\t\t") + "\n\t", asJSON},
		{"YAML", "application/yaml", "# why\nrules:\n  - {name: outage, match: {path: /a}, when: {first: 2}, fault: 503}\n  - steps: [429, pass]\n", asJSON},
		{"without a type", "", asJSON, asJSON},
		{"spelling is kept", "text/yaml", `rules: [{fault: [{latency: {fixed: 1500ms}}, {status: {code: 503, retry-after: 2.0s}}]}]`,
			`{"rules":[{"fault":[{"latency":{"fixed":"1500ms"}},{"status":{"code":503,"retry-after":"2.0s"}}]}]}`},
		{"no rules", "application/json", `{"rules":[]}`, `{"rules":[]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			piloted(t, func(t *testing.T, w *world, p *pilot) {
				var put, got, left plan
				if r := p.ask(t, "PUT /v1/plan", c.text, "Content-Type", c.media); r.read(t, &put) != 200 {
					t.Fatalf("%s", r.body)
				}
				p.ask(t, "GET /v1/plan", "").read(t, &got)
				if compact(put.Plan) != c.want || compact(got.Plan) != c.want || got.Scenario != "" {
					t.Errorf("put %s\ngot %s\nwant %s", compact(put.Plan), compact(got.Plan), c.want)
				}
				if again := p.ask(t, "PUT /v1/plan", string(got.Plan), "Content-Type", "application/json"); again.status != 200 {
					t.Errorf("what was got cannot be put: %s", again.body)
				}
				if c.want == asJSON {
					if fmt.Sprint(got.Rules) != "[outage rule-2]" || w.do(t, "GET /a") != 503 || w.do(t, "GET /b") != 429 || w.do(t, "GET /b") != 200 {
						t.Errorf("rules %v do not act", got.Rules)
					}
				}
				p.ask(t, "DELETE /v1/plan", "").read(t, &left)
				if compact(left.Plan) != `{"rules":[]}` || len(left.Rules) != 0 || w.do(t, "GET /a") != 200 {
					t.Errorf("after DELETE: %s %v", left.Plan, left.Rules)
				}
			})
		})
	}
}

func TestPlanOfAProgramHasNamesOnly(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		w.use(t, faultserver.Rule{Name: "made in Go", Fault: status(503)})
		var got plan
		p.ask(t, "GET /v1/plan", "").read(t, &got)
		if string(got.Plan) != "null" || fmt.Sprint(got.Rules) != "[made in Go]" {
			t.Errorf("%s %v", got.Plan, got.Rules)
		}
	})
}

func TestScenariosAreListedAndStarted(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		var list []struct {
			Name, Summary string
			Rules         []string
		}
		p.ask(t, "GET /v1/scenarios", "").read(t, &list)
		if fmt.Sprint(list) != "[{outage All is 503. [out]} {old-path One path is gone. [gone]}]" {
			t.Errorf("%v", list)
		}
		var started plan
		if code := p.ask(t, "POST /v1/scenarios/old-path/start", "").read(t, &started); code != 200 || started.Scenario != "old-path" {
			t.Errorf("%d %+v", code, started)
		}
		if w.do(t, "GET /old") != 410 || w.do(t, "GET /new") != 200 {
			t.Error("the scenario does not act")
		}
	})
}

func TestResetAndCounts(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		w.use(t, faultserver.Rule{Name: "out", Steps: []fault.Spec{status(503)}}, faultserver.Rule{Name: "stuck", Match: faultserver.Match{Path: "/hang"}, Fault: fault.Of("hang", &fault.Hang{})})
		w.do(t, "GET /")
		w.do(t, "GET /")
		go w.do(t, "GET /hang")
		time.Sleep(time.Minute)
		if c := p.counts(t); c.Requests != 3 || c.InFlight != 1 || c.Elapsed != time.Minute || fmt.Sprint(c.Rules) != "[{out 1} {stuck 1}]" || !c.Began.Equal(time.Now().Add(-time.Minute)) {
			t.Errorf("%+v", c)
		}
		var c counts
		p.ask(t, "POST /v1/reset", "").read(t, &c)
		if c.Requests != 0 || c.InFlight != 0 || c.Elapsed != 0 || fmt.Sprint(c.Rules) != "[{out 0} {stuck 0}]" || !c.Began.Equal(time.Now()) {
			t.Errorf("after the reset: %+v", c)
		}
		if w.do(t, "GET /") != 503 {
			t.Error("the steps do not begin again")
		}
	})
}

func TestLostEntriesAreCounted(t *testing.T) {
	piloted(t, func(t *testing.T, w *world, p *pilot) {
		for range 5 {
			w.do(t, "GET /")
		}
		if c := p.counts(t); c.Requests != 5 || c.Lost != 3 {
			t.Errorf("%+v", c)
		}
	}, faultserver.WithJournal(journal.New(2)))
}

// Wherever a plan or the run is put in its place in one step with another, reset says so.
func TestPlansCanBeginARun(t *testing.T) {
	for _, request := range []string{"PUT /v1/plan", "DELETE /v1/plan", "POST /v1/scenarios/outage/start"} {
		t.Run(request, func(t *testing.T) {
			piloted(t, func(t *testing.T, w *world, p *pilot) {
				body := ""
				if strings.HasPrefix(request, "PUT") {
					body = "rules: []"
				}
				for _, c := range []struct {
					query string
					left  int
				}{{"", 1}, {"?reset=false", 1}, {"?reset=true", 0}} {
					p.ask(t, "POST /v1/reset", "")
					w.do(t, "GET /")
					if r := p.ask(t, request+c.query, body); r.status != 200 {
						t.Errorf("%s: %d", c.query, r.status)
					}
					if n := p.counts(t).Requests; n != c.left {
						t.Errorf("%s left %d requests, want %d", c.query, n, c.left)
					}
				}
			})
		})
	}
}

func query(pairs ...string) string {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return "?" + v.Encode()
}
