package faultserver_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func TestPlanDecodes(t *testing.T) {
	const text = `
rules:
  - name: outage
    match: {methods: [POST], path: "/webhooks/{id}", headers: {X-Kind: a}, queries: {q: ""}}
    when: {window: {for: 2m}}
    per: client
    chance: 0.25
    fault: [{latency: {fixed: 200ms}}, {status: {code: 503, retry-after: 2s}}]
  - match: {host: api.test, path-prefix: /v1/}
    per: call
    steps: [503, 503, 429, pass]
  - match: {path-prefix: /v2/}
    per: call
    when: {first: 1}
    sweep: [400, {reset: {}}]
  - {match: {path: /v3}, per: call, steps: [503]}
  - {match: {path: /v4}, fault: {reset: {after: half}}}
  - fault: pass
`
	var p faultserver.Plan
	if err := strict.Decode("plan.yaml", []byte(text), &p); err != nil {
		t.Fatal(err)
	}
	r := p.Rules[0]
	if r.Name != "outage" || r.Per != faultserver.PerClient || *r.Chance != 0.25 || r.Fault.Name() != "latency+status" ||
		*r.When.Schedule().(*schedule.Window) != (schedule.Window{For: 2 * time.Minute}) {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(faultserver.Match{Methods: []string{"POST"}, Path: "/webhooks/{id}", Headers: map[string]string{"X-Kind": "a"}, Queries: map[string]string{"q": ""}}, r.Match); diff != "" {
		t.Error(diff)
	}
	if len(p.Rules[1].Steps) != 4 || p.Rules[1].Steps[2].Name() != "status" || !p.Rules[1].Steps[3].IsPass() || p.Rules[2].Sweep[1].Name() != "reset" {
		t.Errorf("%+v", p.Rules)
	}
	s := faultserver.New()
	defer s.Close()
	if err := s.Use(p); err != nil {
		t.Error(err)
	}
}

// Each mistake is told where it is made, once, in words that say what to write. Lines after the first are further errors.
var mistakes = []struct{ name, plan, want string }{
	{"no fault", `rules: [{name: a}]`, `1:9: the rule says when to act, but not what to do; give it a fault, steps or a sweep`},
	{"two of three", `rules: [{fault: 503, steps: [503]}]`, `1:29: fault and steps exclude each other; a rule has one of fault, steps and sweep`},
	{"no steps", `rules: [{steps: []}]`, `1:17: steps is empty, so the rule never acts; list faults, as in [503, 503, pass]`},
	{"sweep for all", `rules: [{per: all, sweep: [400, 404]}]`, `1:15: a sweep gives each call or client a fault of its own; say per: call (the default with a sweep) or per: client`},
	{"steps that the schedule never comes to", `rules: [{when: {sequence: {hits: [3, 4]}}, steps: [503, 503, 500]}]`, `1:51: the rule is on for 2 hits, so the step at place 3 is never reached`},
	{"steps behind a pass", `rules: [{per: call, steps: [503, pass, 503]}]`, `1:28: steps after the pass at place 2 are never reached: per call, the first request that is left alone ends the call`},
	{"chance 0", `rules: [{chance: 0, fault: 503}]`, `1:18: chance is 0, so the rule never acts; it takes more than 0, up to 1`},
	{"chance above 1", `rules: [{chance: 50, fault: 503}]`, `1:18: chance is 50, but a likelihood is more than 0, up to 1`},
	{"first 0", `rules: [{when: {first: 0}, fault: 503}]`, `1:16: first is 0, so the rule is never on; it takes 1 or more`},
	{"window of no length", `rules: [{when: {window: {from: 2s}}, fault: 503}]`, `1:16: window.for is 0s, but has to be longer than 0s`},
	{"negative times", `rules: [{when: {window: {from: -1s, for: -2s}}, fault: 503}]`, `1:16: window.from is -1s, but there is nothing before the first request; it takes 0s or more; window.for is -2s, but has to be longer than 0s`},
	{"burst without pause", `rules: [{when: {burst: {on: 3s, every: 2s}}, fault: 503}]`, `1:16: burst.on (3s) leaves no pause in burst.every (2s); make it shorter, or use always`},
	{"call that ends at once", `rules: [{per: call, when: {sequence: {hits: [2]}}, fault: 503}]`, `1:27: the rule never acts: it leaves the first request of a call alone, which ends the call`},
	{"unknown method", `rules: [{match: {methods: [GET, PSOT]}, fault: 503}]`, `1:27: unknown method "PSOT"; did you mean POST?`},
	{"no methods", `rules: [{match: {methods: []}, fault: 503}]`, `1:27: methods is empty; leave it out to match every method`},
	{"path without slash", `rules: [{match: {path: drivers}, fault: 503}]`, `1:24: path must start with a slash, got "drivers"`},
	{"braces", `rules: [{match: {path: "/{id"}, fault: 503}]`, `1:24: unbalanced braces in "/{id"`},
	{"pattern", `rules: [{match: {path: "/{id:[}"}, fault: 503}]`, "1:24: error parsing regexp: missing closing ]: `[$`"},
	{"capture group", `rules: [{match: {path: "/{id:(a|b)}"}, fault: 503}]`, `1:24: route /{id:(a|b)} contains capture groups in its regexp. Only non-capturing groups are accepted: e.g. (?:pattern) instead of (pattern)`},
	{"query pattern", `rules: [{match: {queries: {n: "{v:[}"}}, fault: 503}]`, "1:27: error parsing regexp: missing closing ]: `[$`"},
	{"one variable twice", `rules: [{match: {host: "{a}.test", path: "/{a}"}, fault: 503}]`, `1:17: duplicated route variable "a"`},
	{"path and prefix", `rules: [{match: {path: /a, path-prefix: /b}, fault: 503}]`, `1:41: path and path-prefix exclude each other; write the whole path, or the prefix alone`},
	{"path with a query", `rules: [{match: {path: "/a?b=c"}, fault: 503}]`, `1:24: path "/a?b=c" can never match: a path ends where the query begins; match the query with queries: {name: value}`},
	{"path with a fragment", `rules: [{match: {path: "/a#b"}, fault: 503}]`, `1:24: path "/a#b" can never match: a fragment is never sent; leave it out`},
	{"path with a space", `rules: [{match: {path: "/a b"}, fault: 503}]`, `1:24: path "/a b" can never match: requests carry ' ' escaped; write %20`},
	{"path prefix that is not ASCII", `rules: [{match: {path-prefix: "/ü"}, fault: 503}]`, `1:31: path-prefix "/ü" can never match: requests carry 'ü' escaped; write %C3%BC`},
	{"bad escape", `rules: [{match: {path: "/%zz"}, fault: 503}]`, `1:24: path "/%zz" can never match: % begins an escape of two hex digits, such as %20 or %25`},
	{"rest of the path", `rules: [{match: {path: "/{x...}"}, fault: 503}]`, `1:24: path "/{x...}" can never match: a variable takes one segment; for the rest of the path write {x:.*}`},
	{"no variable", `rules: [{match: {path: "/{a b}"}, fault: 503}]`, `1:24: path "/{a b}" can never match: {a b} is no variable; write {name} or {name:pattern}`},
	{"empty path", `rules: [{match: {path: ""}, fault: 503}]`, `1:24: path is empty; leave it out to match any`},
	{"header twice", `rules: [{match: {headers: {x-a: "1", X-A: "2"}}, fault: 503}]`, `1:27: X-A stands there twice; case does not tell header names apart`},
	{"header that no rule sees", `rules: [{match: {headers: {host: a.test}}, fault: 503}]`, `1:34: no header rule sees Host; write match: {host: a.test}`},
	{"header that ends with the hop", `rules: [{match: {headers: {Trailer: ""}}, fault: 503}]`, `1:37: no rule sees Trailer: it is about how the request is carried`},
	{"no header name", `rules: [{match: {headers: {"X A": b}}, fault: 503}]`, `1:35: "X A" is no header name; it takes letters, digits and hyphens`},
	{"header of two lines", `rules: [{match: {headers: {X-A: "b\r\nX-B: c"}}, fault: 503}]`, `1:33: the value of X-A has a character that no header may hold`},
	{"header with a space behind", `rules: [{match: {headers: {X-A: "b "}}, fault: 503}]`, `1:33: the value of X-A begins or ends with a space`},
	{"no token, but its lifetime", `rules: [{fault: {auth: {fails: 500, lives: 1s}}}]`, `1:32: no token is given where fails is set, so lives and uses say nothing`},
	{"answer's header twice", `rules: [{fault: {status: {headers: {x-a: "1", X-A: "2"}}}}]`, `1:47: X-A stands there twice; case does not tell header names apart`},
	{"fault behind a status", `rules: [{fault: [503, 500]}]`, `1:23: status cannot act here: status before it settles the exchange; in a list, all faults act on one request`},
	{"fault behind a reset", `rules: [{steps: [[latency, reset, 503], 503]}]`, `1:35: status cannot act here: reset before it settles the exchange; in a list, all faults act on one request`},
	{"chance that never is", `rules: [{chance: 1e-320, fault: 503}]`, `1:18: chance is 1e-320, so the rule acts in no run; it takes 1e-09 or more, up to 1`},
	{"window in a century", `rules: [{when: {window: {from: 2562047h, for: 1h}}, fault: 503}]`, `1:16: window.from is 2562047h0m0s, but no run lasts longer than a year; it takes up to 8760h0m0s`},
	{"pauses of centuries", `rules: [{when: {flap: {up: 2562047h, down: 1s}}, fault: 503}]`, `1:16: flap.up is 2562047h0m0s, but no run lasts longer than a year`},
	{"delay above its bound", `rules: [{fault: {latency: {fixed: 3s, max: 1s}}}]`, `1:44: max is 1s, so the fixed delay of 3s never takes as long; leave max out, or make fixed shorter`},
	{"name taken", "rules:\n- {name: a, match: {path: /a}, fault: 503}\n- {name: a, match: {path: /b}, fault: 503}", `3:10: the name "a" is taken by rule 1; names tell rules apart in reports`},
	{"default name taken", "rules:\n- {name: rule-2, match: {path: /a}, fault: 503}\n- {match: {path: /b}, fault: 503}", `3:3: the name "rule-2" is taken by rule 1; names tell rules apart in reports`},
	{"behind a rule for everything", "rules:\n- {name: all, fault: 503}\n- {match: {path: /b}, fault: 503}", `3:3: this rule can never act: rule all before it takes all of its requests`},
	{"behind a pass", "rules:\n- fault: pass\n- fault: 503", `3:3: this rule can never act: rule rule-1 before it takes all of its requests`},
	{"before the body, per call", `rules: [{per: call, when: {first: 1}, fault: {reset: {after: head}}}]`, `1:9: the fault acts before the body is read, but rule rule-1 needs the body to tell requests apart; count per: client there, put that rule behind, or let this fault act after: body`},
	{"before the body, behind a rule per call", "rules:\n- {name: a, match: {path: \"/{x}\"}, per: call, steps: [503]}\n- {match: {path: /b}, fault: [{latency: {fixed: 1s}}, {close: {after: half}}]}", `3:3: the fault acts before the body is read, but rule a`},
	{"before the body, behind a limit on payloads", "rules:\n- {name: a, fault: {ratelimit: {identical: 3/1m}}}\n- {fault: {reset: {after: half}}}", `3:3: the fault acts before the body is read, but rule a`},
	{"several", "rules:\n- {chance: 2, fault: 503}\n- {when: {first: 0}, per: cal, fault: {}}", "2:12: chance is 2, but a likelihood is more than 0, up to 1\n3:10: first is 0, so the rule is never on; it takes 1 or more\n3:27: unknown scope \"cal\"; did you mean call?\n3:39: 0 faults in one mapping"},
	{"unknown field hides nothing behind it", "rules:\n- {match: {pth: /a}, fault: 503}\n- {match: {path: /b}, fault: 503}", `2:12: unknown field "pth"; did you mean path?`},
	{"misspelt fault is not a missing one", `rules: [{falt: 503}]`, `1:10: unknown field "falt"; did you mean fault?`},
}

func TestPlanMistakes(t *testing.T) {
	for _, c := range mistakes {
		t.Run(c.name, func(t *testing.T) {
			var p faultserver.Plan
			err := strict.Decode("plan.yaml", []byte(c.plan), &p)
			if err == nil {
				t.Fatal("no error")
			}
			got := strings.Split(strings.ReplaceAll(err.Error(), "plan.yaml:", ""), "\n")
			want := strings.Split(c.want, "\n")
			if len(got) != len(want) {
				t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), c.want)
			}
			for i := range want {
				if !strings.HasPrefix(got[i], want[i]) {
					t.Errorf("got\n%s\nwant\n%s", got[i], want[i])
				}
			}
		})
	}
}

// A plan made in Go gets the same errors, with the rule's name for a place.
func TestUseMistakes(t *testing.T) {
	s := faultserver.New()
	defer s.Close()
	nan := math.NaN()
	err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{
		{Name: "a", Chance: &nan, Fault: fault.Pass()},
		{Match: faultserver.Match{Path: "b"}, When: schedule.Of(schedule.First(0)), Fault: fault.Pass()},
		{Match: faultserver.Match{Path: "/c"}, Steps: []fault.Spec{fault.Pass(), {}}},
		{Match: faultserver.Match{Path: "/d"}},
		{Match: faultserver.Match{Path: "/e"}, Fault: fault.Of("status", &fault.Status{Code: 99})},
		{Match: faultserver.Match{Path: "/f"}, Steps: []fault.Spec{fault.Of("late", fault.Chain(
			&fault.Latency{Fixed: -1}, &fault.Status{RetryAfter: &fault.RetryAfter{}, Headers: map[string]string{"": "x"}}, &fault.Reset{}))}},
		{Match: faultserver.Match{Path: "/g"}, Fault: fault.Of("own", picky{})},
		{Match: faultserver.Match{Path: "/h"}, Fault: fault.Of("status", &fault.Status{})},
	}})
	const want = `faultserver: rule a, chance: chance is NaN, but a likelihood is more than 0, up to 1
faultserver: rule rule-2, match.path: path must start with a slash, got "b"
faultserver: rule rule-2, when: first is 0, so the rule is never on; it takes 1 or more
faultserver: rule rule-3, steps: steps has nothing at place 2; write pass to leave a request alone
faultserver: rule rule-4: the rule says when to act, but not what to do; give it a fault, steps or a sweep
faultserver: rule rule-5, fault: status: code: 99 is out of range; want 200 to 599
faultserver: rule rule-6, steps: late: fixed: -1ns is too small; want more than 0s; "" is no header name; it takes letters, digits and hyphens; no Retry-After is given; write it 2s, {date: 3s} or {raw: "soon"}
faultserver: rule rule-7, fault: own: never content`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// picky is a fault of a user's own that has a Check.
type picky struct{ faultFunc }

func (picky) Check() error { return errors.New("never content") }

// Rule by rule: does the first take everything away from the second?
func TestRulesBehindOthers(t *testing.T) {
	type match = faultserver.Match
	for _, c := range []struct {
		name          string
		first, second match
		inert         bool
	}{
		{"all before all", match{}, match{}, true},
		{"all before one", match{}, match{Path: "/a", Methods: []string{"GET"}}, true},
		{"one before all", match{Path: "/a"}, match{}, false},
		{"same path", match{Path: "/a"}, match{Path: "/a"}, true},
		{"other path", match{Path: "/a"}, match{Path: "/b"}, false},
		{"template before its value", match{Path: "/a/{id:[0-9]+}"}, match{Path: "/a/7"}, true},
		{"template before another value", match{Path: "/a/{id:[0-9]+}"}, match{Path: "/a/x"}, false},
		{"value before template", match{Path: "/a/7"}, match{Path: "/a/{id}"}, false},
		{"another name of a variable", match{Path: "/a/{id}"}, match{Path: "/a/{name}"}, true},
		{"another pattern", match{Path: "/a/{id:[0-9]+}"}, match{Path: "/a/{id}"}, false},
		{"prefix before path", match{PathPrefix: "/v1/"}, match{Path: "/v1/{x}/b"}, true},
		{"prefix before longer prefix", match{PathPrefix: "/v1"}, match{PathPrefix: "/v1/a"}, true},
		{"prefix before shorter prefix", match{PathPrefix: "/v1/a"}, match{PathPrefix: "/v1"}, false},
		{"path before prefix", match{Path: "/v1"}, match{PathPrefix: "/v1"}, false},
		{"template prefix", match{PathPrefix: "/{v}/"}, match{Path: "/v1/a"}, true},
		{"more methods", match{Methods: []string{"GET", "POST"}}, match{Methods: []string{"post"}}, true},
		{"fewer methods", match{Methods: []string{"GET"}}, match{Methods: []string{"GET", "POST"}}, false},
		{"some methods before all", match{Methods: []string{"GET"}}, match{}, false},
		{"same host", match{Host: "a"}, match{Host: "a", Path: "/x"}, true},
		{"other host", match{Host: "a"}, match{Host: "b"}, false},
		{"header", match{Headers: map[string]string{"X": ""}}, match{Headers: map[string]string{"X": "1"}}, true},
		{"other header", match{Headers: map[string]string{"X": "1"}}, match{Headers: map[string]string{"X": "2"}}, false},
		{"more headers", match{Headers: map[string]string{"X": "1", "Y": "1"}}, match{Headers: map[string]string{"X": "1"}}, false},
		{"query", match{Queries: map[string]string{"q": ""}}, match{Queries: map[string]string{"q": "{x}", "p": "1"}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := func(change func(*faultserver.Rule)) error {
				s := faultserver.New()
				defer s.Close()
				one := faultserver.Rule{Match: c.first, Fault: status(503)}
				if change != nil {
					change(&one)
				}
				return s.Use(faultserver.Plan{Rules: []faultserver.Rule{one, {Match: c.second, Fault: status(500)}}})
			}
			if err := rules(nil); (err != nil) != c.inert {
				t.Errorf("got %v, inert %v", err, c.inert)
			}
			half := 0.5
			for what, change := range map[string]func(*faultserver.Rule){
				"schedule": func(r *faultserver.Rule) { r.When = schedule.Of(schedule.First(1)) },
				"chance":   func(r *faultserver.Rule) { r.Chance = &half },
				"steps":    func(r *faultserver.Rule) { r.Fault, r.Steps = fault.Spec{}, []fault.Spec{status(503)} },
			} {
				if err := rules(change); err != nil {
					t.Errorf("with a %s the first rule leaves something: %v", what, err)
				}
			}
		})
	}
}

// Editors complete and explain every field of a plan.
func TestPlanSchema(t *testing.T) {
	text, err := json.Marshal(strict.Schema(faultserver.Plan{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"path-prefix":{"description":"template`, `"enum":["all","client","call"]`, `"burst"`, `"latency"`, `"sweep":{"description":`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the schema lacks %s", want)
		}
	}
}

// Plans that are made in Go are told the same, without a place in a file.
func TestUseRefusesFaultsBehindTheEnd(t *testing.T) {
	s := faultserver.New()
	defer s.Close()
	f := fault.Of("both", fault.Chain(&fault.Reset{}, &fault.Latency{Fixed: time.Second}))
	err := s.Use(faultserver.Plan{Rules: []faultserver.Rule{{Fault: f}}})
	if err == nil || !strings.Contains(err.Error(), "in both, the fault at place 2 cannot act: the one before it settles the exchange") {
		t.Error(err)
	}
}
