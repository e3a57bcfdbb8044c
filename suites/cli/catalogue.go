package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
	"github.com/retrygate/retrygate/faultserver/schedule"
	"github.com/retrygate/retrygate/faultserver/strict"
	"github.com/retrygate/retrygate/scenarios"
)

// catalogue is one list of things that can be named: on the command line, in a file, in a report.
type catalogue struct {
	name, item string // "clauses", "clause"
	items      func() []item
}

// item is one of them, as list and explain show it.
type item struct {
	Name    string `json:"name"`
	Level   string `json:"level,omitempty"`
	AsOf    string `json:"as_of,omitempty"` // when its sources were read
	Summary string `json:"summary"`
	Facts   facts  `json:"facts,omitempty"`
	Example string `json:"example,omitempty"`
	File    string `json:"file,omitempty"` // the whole file that it is, to start one's own from
}

// facts are what explain adds, in the order to be read.
type facts []fact

type fact struct{ what, text string }

// MarshalJSON writes an object, which is what a program looks things up in.
func (f facts) MarshalJSON() ([]byte, error) {
	object := make(map[string]string, len(f))
	for _, x := range f {
		object[x.what] = x.text
	}
	return json.Marshal(object)
}

// known drops the facts that say nothing.
func known(all ...fact) facts {
	return slices.DeleteFunc(facts(all), func(f fact) bool { return f.text == "" })
}

// catalogues in the order that help shows.
var catalogues = []catalogue{
	{"faults", "fault kind", faultItems},
	{"schedules", "schedule", scheduleItems},
	{"scenarios", "scenario", scenarioItems},
	{"clauses", "clause", clauseItems},
	{"profiles", "profile", profileItems},
	{"formats", "report format", formatItems},
	{"logs", "log format", logItems},
}

func faultItems() (all []item) {
	for _, k := range fault.Kinds.All() {
		all = append(all, item{Name: k.Name, Summary: k.Summary, Facts: settings(k.New()), Example: k.Example})
	}
	return all
}

// settings tells what can be set in a fault or schedule.
func settings(v any) (all facts) {
	for _, s := range strict.Settings(v) {
		all = append(all, fact{s.Name, s.Doc})
	}
	return all
}

func scheduleItems() (all []item) {
	for _, k := range schedule.Kinds.All() {
		all = append(all, item{Name: k.Name, Summary: k.Summary, Facts: settings(k.New()), Example: k.Example})
	}
	return all
}

func scenarioItems() (all []item) {
	for _, s := range scenarios.All() {
		file, _ := scenarios.Source(s.Name) // the name is one that ships
		all = append(all, item{Name: s.Name, Summary: s.Summary, File: string(file), Facts: known(
			fact{"why", s.Why},
			fact{"judges", strings.Join(s.Judges, ", ")},
			fact{"clients", strconv.Itoa(max(1, s.Clients))},
		)})
	}
	return all
}

func clauseItems() (all []item) {
	for _, k := range assert.Kinds.All() {
		late := ""
		if k.Late {
			late = "a slow machine could bend it, so on a noisy one the verdict is inconclusive, never fail"
		}
		told := known(
			fact{"measured", k.Measure},
			fact{"why", k.Why},
			fact{"fix", k.Fix},
			fact{"source", k.Source},
			fact{"needs", evidence(k.Samples)},
			fact{"noise", late},
			fact{"judged in", strings.Join(judgedIn(k.ID), ", ")},
		)
		all = append(all, item{Name: k.ID, Level: k.Level.String(), Summary: k.Summary, Facts: append(told, parameters(k)...)})
	}
	return all
}

// parameters tells what a contract can set for a clause: max in clauses: {retry-cap: {max: 3}}, attempts.max in a section.
func parameters(k assert.Kind) (all facts) {
	for _, s := range k.Parameters() {
		name := s.Name
		if !strings.Contains(name, ".") {
			name = "set " + name
		}
		all = append(all, fact{name, s.Doc})
	}
	return all
}

func evidence(s assert.Samples) string {
	var text string
	switch {
	case s.Calls > 1 && s.Gaps > 0:
		text = fmt.Sprintf("%d calls with %s each", s.Calls, plural(s.Gaps, "wait"))
	case s.Calls > 1:
		text = fmt.Sprintf("%d calls", s.Calls)
	case s.Gaps > 0:
		return "a call with " + plural(s.Gaps, "wait")
	}
	if s.Together {
		text += " in one scenario"
	}
	if s.Each > 1 {
		text += fmt.Sprintf(", %d for each answer that a scenario shares out", s.Each)
	}
	return text
}

func judgedIn(clause string) (names []string) {
	for _, s := range scenarios.All() {
		if slices.Contains(s.Judges, clause) {
			names = append(names, s.Name)
		}
	}
	return names
}

func profileItems() (all []item) {
	for _, p := range assert.Profiles.All() {
		all = append(all, item{Name: p.Name, AsOf: p.AsOf, Summary: p.Summary, File: string(p.Text), Facts: known(
			fact{"as of", p.AsOf},
			fact{"sources", strings.Join(p.Sources, "; ")},
			fact{"differs", strings.Join(p.Differences(), "; ")},
		)})
	}
	return all
}

func formatItems() (all []item) {
	for _, f := range report.Formats.All() {
		all = append(all, item{Name: f.Name, Summary: f.Summary})
	}
	all = append(all, item{Name: junit, Summary: "for CI servers: a test case for each scenario and clause; needs a file"})
	slices.SortFunc(all, func(a, b item) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func logItems() (all []item) {
	for _, f := range accesslog.Formats.All() {
		all = append(all, item{Name: f.Name, Summary: f.Summary, Facts: facts{{"source", f.Source}}, Example: f.Example})
	}
	return all
}
