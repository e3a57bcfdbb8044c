package faultserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/schedule"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// Plan is an ordered list of rules. Of those that a request meets, the first that is on acts; the others do not see it. A
// fault that chooses by itself, such as a limit that is not reached, leaves the request to the rules behind.
// The zero Plan leaves every request alone.
type Plan struct {
	Name  string `yaml:"-"` // of the scenario that it is from, "" if of none
	Rules []Rule `yaml:"rules" doc:"in order: the first rule that a request meets and that is on acts"`
}

// Rule says which requests meet with which fault, and when. Exactly one of Fault, Steps and Sweep is set.
type Rule struct {
	Name  string        `yaml:"name" doc:"what journals and reports call it; default rule-1, rule-2 ... by place"`
	Match Match         `yaml:"match" doc:"which requests it is for; default all"`
	When  schedule.Spec `yaml:"when" doc:"when it is on; default always"`

	// Per is what When, Steps and Sweep count over; default all, and with a Sweep call, or client where it acts on
	// connections. Every request that meets Match and that no earlier rule
	// acted on is a hit, whether the schedule is on or off, and the first hit starts the schedule's clock.
	// For a fault that acts on connections, hits are new connections, and further requests on those that it has not taken.
	Per Scope `yaml:"per" doc:"what hits and time are counted over: each call, each client, or all; default all, with a sweep call (client for faults that act on connections)"`

	// Chance is how likely the rule acts on a request that it is on for, from above 0 to 1; nil: 1. It is decided by the
	// seed and the request's sequence number alone; with Per client by the seed, the client and its hit, so that each client
	// has a program of its own that comes out the same in every run.
	Chance *float64 `yaml:"chance" doc:"how likely it acts when it is on, from above 0 to 1; default 1"`

	// Fault acts on every request that the rule is on for.
	Fault fault.Spec `yaml:"fault" doc:"what happens to every request that the rule is on for"`
	// Steps act one after the other, the k-th on the k-th hit that the schedule is on for; after the last, the rule is off.
	Steps []fault.Spec `yaml:"steps" doc:"what happens to the first request that the rule is on for, the second ...; then the rule is off"`
	// Sweep gives the k-th new call (or client, as Per says) the k-th fault, and the same at each of its hits; after the
	// last, it starts over.
	Sweep []fault.Spec `yaml:"sweep" doc:"what happens to every request of the first call (or client), of the second ...; then from the start"`

	written json.RawMessage // as it stands in the file, if it is from one
}

// ruleFields is a Rule that strict reads by its fields.
type ruleFields Rule

// UnmarshalNode reads a rule, and remembers how it was written.
func (r *Rule) UnmarshalNode(n strict.Node) {
	n.Decode((*ruleFields)(r))
	if per, ok := n.Field("per"); ok && len(r.Sweep) > 0 && r.Per == PerAll && !per.Failed() {
		per.Fail("a sweep gives each call or client a fault of its own; say per: call (the default with a sweep) or per: client")
	}
	r.written = n.JSON()
}

// JSONSchema describes what UnmarshalNode accepts.
func (Rule) JSONSchema() map[string]any { return strict.SchemaPart(ruleFields{}) }

// Match says which requests meet a rule: all that satisfy every field that is set. Fields mean what they mean to
// gorilla/mux, on the escaped path as the client sent it.
type Match struct {
	Methods    []string          `yaml:"methods" doc:"such as [GET, POST]; default any"`
	Host       string            `yaml:"host" doc:"template, such as {tenant}.api.test"`
	Path       string            `yaml:"path" doc:"template, such as /drivers/{id:[0-9]+}/status"`
	PathPrefix string            `yaml:"path-prefix" doc:"template that the path starts with, such as /v1/"`
	Headers    map[string]string `yaml:"headers" doc:"name to value; the empty value stands for any"`
	Queries    map[string]string `yaml:"queries" doc:"name to template of the value; the empty one stands for any"`
}

// Validate refuses templates that are there but empty, which match nothing or everything depending on who reads them.
func (m Match) Validate(n strict.Node) {
	for _, t := range []struct{ field, template string }{{"host", m.Host}, {"path", m.Path}, {"path-prefix", m.PathPrefix}} {
		if at, ok := n.Field(t.field); ok && t.template == "" && !at.Failed() {
			at.Fail("%s is empty; leave it out to match any", t.field)
		}
	}
}

// name returns what the i-th rule is called.
func (r Rule) name(i int) string {
	if r.Name != "" {
		return r.Name
	}
	return "rule-" + strconv.Itoa(i+1)
}

// faults returns the rule's faults, in whichever of the three ways they are given.
func (r Rule) faults() []fault.Spec {
	switch {
	case len(r.Steps) > 0:
		return r.Steps
	case len(r.Sweep) > 0:
		return r.Sweep
	default:
		return []fault.Spec{r.Fault}
	}
}

// onConnections reports whether the rule acts on connections: its hits are new connections, and requests on those that are
// kept alive and that no such rule has taken.
func (r Rule) onConnections() bool { return slices.ContainsFunc(r.faults(), fault.Spec.OnConnections) }

// onStreams reports whether the rule acts on nothing but HTTP/2 streams: other requests are no hits.
func (r Rule) onStreams() bool {
	return slices.ContainsFunc(r.faults(), fault.Spec.OnStreams) &&
		!slices.ContainsFunc(r.faults(), func(f fault.Spec) bool { return !f.OnStreams() && !f.IsPass() })
}

// Crowded reports whether a rule's fault acts by how many requests come together.
func (p Plan) Crowded() bool {
	return slices.ContainsFunc(p.Rules, func(r Rule) bool { return slices.ContainsFunc(r.faults(), fault.Spec.Crowded) })
}

// Shortest is the least time that a rule which goes on and off over and over stays as it is; 0: there is none.
func (p Plan) Shortest() (least time.Duration) {
	for _, r := range p.Rules {
		if a, ok := r.When.Schedule().(schedule.Alternator); ok && (least == 0 || a.Shortest() < least) {
			least = a.Shortest()
		}
	}
	return least
}

// Validate reports what is wrong with the plan at its place in a file: settings that cannot be, and rules that can never
// fire. n is the mapping that has the plan's `rules`.
func (p Plan) Validate(n strict.Node) {
	list, _ := n.Field("rules")
	nodes := list.Seq()
	if len(nodes) != len(p.Rules) {
		return // the rules are no list
	}
	unread := func(i int) bool { return nodes[i].Failed() }
	for _, problem := range p.problems(unread) {
		at := nodes[problem.rule]
		for name := range strings.SplitSeq(problem.field, ".") {
			at = at.At(name)
		}
		if !at.Failed() { // else what is missing here may be what could not be read
			at.Fail("%s", problem.message)
		}
	}
}

// check returns the same problems as one error, for plans that were built in Go.
func (p Plan) check() error {
	var all []error
	for _, problem := range p.problems(func(int) bool { return false }) {
		where := "rule " + p.Rules[problem.rule].name(problem.rule)
		if problem.field != "" {
			where += ", " + problem.field
		}
		all = append(all, fmt.Errorf("faultserver: %s: %s", where, problem.message))
	}
	return errors.Join(all...)
}
