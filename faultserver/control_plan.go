package faultserver

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/gorilla/mux"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// planAnswer is the plan in use.
type planAnswer struct {
	Scenario string      `json:"scenario,omitempty" doc:"the scenario that it is from, if it is from one"`
	Plan     writtenPlan `json:"plan" doc:"the plan as it was written, comments aside; null if it was made by a program"`
	Rules    []string    `json:"rules" doc:"the names of its rules, in order"`
}

type presetAnswer struct {
	Name    string   `json:"name" doc:"what to start it by"`
	Summary string   `json:"summary" doc:"what happens, in one line"`
	Rules   []string `json:"rules" doc:"the names of its rules, in order"`
}

// writtenPlan is a plan as JSON.
type writtenPlan struct{ json.RawMessage }

// JSONSchema is that of plans, or null.
func (writtenPlan) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []any{planRef(), map[string]any{"type": "null"}}}
}

// written puts the plan back together; nil if a rule was made in Go.
func (p Plan) written() writtenPlan {
	rules := make([]json.RawMessage, len(p.Rules))
	for i, r := range p.Rules {
		if r.written == nil {
			return writtenPlan{}
		}
		rules[i] = r.written
	}
	text, _ := json.Marshal(map[string]any{"rules": rules}) // it was JSON before
	return writtenPlan{text}
}

func (p Plan) names() []string {
	names := make([]string, len(p.Rules))
	for i, r := range p.Rules {
		names[i] = r.name(i)
	}
	return names
}

func planOf(p Plan) planAnswer { return planAnswer{p.Name, p.written(), p.names()} }

func (c *Control) getPlan(*ask) (any, error) { return planOf(c.server.program.Load().plan), nil }

func (c *Control) putPlan(a *ask) (any, error) {
	data, err := a.document()
	if err != nil {
		return nil, err
	}
	var p Plan
	if err := strict.Decode("plan", data, &p); err != nil {
		return nil, misread(err)
	}
	return c.use(a, p)
}

func (c *Control) deletePlan(a *ask) (any, error) { return c.use(a, Plan{}) }

func (c *Control) listScenarios(*ask) (any, error) {
	all := make([]presetAnswer, len(c.presets))
	for i, p := range c.presets {
		all[i] = presetAnswer{p.Name, p.Summary, p.Plan.names()}
	}
	return all, nil
}

func (c *Control) startScenario(a *ask) (any, error) {
	name, err := url.PathUnescape(mux.Vars(a.r)["name"])
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the path cannot be read: %v", err)
	}
	known := make([]string, len(c.presets))
	for i, p := range c.presets {
		if p.Name == name {
			return c.use(a, p.Plan)
		}
		known[i] = p.Name
	}
	return nil, refuse(http.StatusNotFound, "unknown scenario %q%s", name, registry.Suggest(name, known))
}

// use puts a plan to use, with the run begun anew if that was asked for.
func (c *Control) use(a *ask, p Plan) (any, error) {
	next, err := c.server.compile(p)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "%v", err)
	}
	if a.query.reset {
		c.server.begin(nil, next)
	} else {
		c.server.replace(next)
	}
	return planOf(p), nil
}

func (c *Control) reset(*ask) (any, error) {
	c.server.Reset()
	return c.counts(), nil
}
