package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/retrygate/retrygate/assert"
)

func init() {
	register(Format{Name: "text", Summary: "for people: what is broken first, with the evidence and the fix", Write: writeText})
}

const (
	narrowest = 72
	widest    = 100
	indent    = "  "
)

// page is a text report in the making.
type page struct {
	strings.Builder
	Paint
	width int
}

func writeText(w io.Writer, r Report, s Style) error {
	p := &page{Paint: Paint(s.Color), width: widest}
	if s.Width > 0 {
		p.width = min(max(s.Width, narrowest), widest)
	}
	all := clauses(r)
	broken, warned := split(with(all, assert.Fail), r.FailOn)

	p.header(r)
	p.errors(r.Errors)
	for _, c := range broken {
		p.broken(c)
	}
	p.warnings(warned)
	p.accepted(r)
	p.undecided(with(all, assert.Inconclusive))
	p.kept(with(all, assert.Pass))
	p.unexercised(with(all, assert.NotExercised))
	p.waits(r.Waits)
	p.policy(r.Policy)
	p.notes(r)
	p.line("")
	p.verdict(r)
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *page) line(format string, args ...any) {
	text := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	p.WriteString(text + "\n")
}

// para writes text wrapped behind a label; the lines after the first stand under the text.
func (p *page) para(label, text string) { p.shaded(p.Dim, label, text) }

func (p *page) shaded(shade func(string) string, label, text string) {
	pad := strings.Repeat(" ", len(label))
	for i, l := range Wrap(Clean(text), p.width-len(label)) {
		if i > 0 || label == pad {
			p.line("%s%s", pad, l)
		} else {
			p.line("%s%s", shade(label), l)
		}
	}
}

func (p *page) header(r Report) {
	for _, c := range r.Clients {
		what := c.Name
		if len(c.Command) > 0 {
			what = Quote(c.Command)
		}
		p.para("client    ", what)
	}
	contract := r.Contract.Name
	if r.Contract.Profile != "" && r.Contract.Profile != contract {
		contract += " (profile " + r.Contract.Profile + ")"
	}
	if r.Seed != 0 { // a recorded history has none
		contract += fmt.Sprintf(", seed %d", r.Seed)
	}
	p.para("contract  ", contract)
	if len(r.Scenarios) > 0 {
		p.para("run       ", tally(r)+hastened(r))
	}
	if calls := toldApart(r); calls != "" {
		p.para("calls     ", calls)
	}
	if apart := notCharged(r); apart != "" {
		p.para("besides   ", apart+": not charged as retries")
	}
}

// hastened tells of a clock that ran faster; from there on all times are the client's.
func hastened(r Report) string {
	if r.Speed <= 1 {
		return ""
	}
	return fmt.Sprintf(", on a clock that ran %d times as fast", r.Speed)
}

// tally sums the scenarios up. They run side by side, so the longest one is about how long it took.
func tally(r Report) string {
	var clients, requests int
	var longest float64
	for _, s := range r.Scenarios {
		clients, requests, longest = clients+s.Clients, requests+s.Requests, max(longest, s.Seconds)
	}
	what := fmt.Sprintf("%s, %s", plural(clients, "client"), plural(requests, "request"))
	if len(r.Scenarios) == 1 {
		return fmt.Sprintf("scenario %s: %s in %s", r.Scenarios[0].Name, what, Span(longest*1000))
	}
	return fmt.Sprintf("%d scenarios: %s, the longest took %s", len(r.Scenarios), what, Span(longest*1000))
}

func (p *page) errors(all []string) {
	for _, e := range all {
		p.line("")
		for i, l := range strings.Split(strings.TrimRight(e, "\n"), "\n") {
			if i == 0 {
				p.shaded(p.Red, "ERROR"+indent, l)
			} else {
				p.line("%s%s", indent, Clean(l))
			}
		}
	}
}

func (p *page) broken(c clause) {
	first := c.worst[0]
	p.line("")
	p.line("%s  %s %s", p.Red("FAIL"), p.Bold(c.id), p.Dim(fmt.Sprintf("(%s) in %s", c.level, first.Scenario)))
	p.para(indent, first.Detail)
	p.witness(first.Witness)
	p.elsewhere(c)
	p.fix(c, first)
}

// elsewhere names the other scenarios with the same verdict; what they add to the first is worth a line each.
func (p *page) elsewhere(c clause) {
	const most = 3
	for i, x := range c.worst[1:] {
		if i == most {
			p.para(indent, fmt.Sprintf("and in %s more", plural(len(c.worst)-1-most, "scenario")))
			break
		}
		p.para(indent+"also in "+x.Scenario+": ", x.Detail)
	}
}

func (p *page) fix(c clause, x Result) {
	if x.Fix != "" {
		p.para(indent+"fix   ", x.Fix)
	}
	p.line("%s%s", p.Dim(indent+"more  "), p.Cyan("retrygate explain "+c.id))
}

func (p *page) warnings(all []clause) {
	for _, c := range all {
		first := c.worst[0]
		p.line("")
		p.line("%s  %s %s", p.Yellow("WARN"), p.Bold(c.id), p.Dim(fmt.Sprintf("(%s) in %s", c.level, first.Scenario)))
		p.para(indent, first.Detail)
		p.elsewhere(c)
		p.fix(c, first)
	}
}

// accepted shows the known breaches, with the reason and the last day.
func (p *page) accepted(r Report) {
	for _, c := range known(r) {
		first := c.worst[0]
		why := r.acceptedAs(first)
		p.line("")
		p.line("%s  %s %s", p.Yellow("WARN"), p.Bold(c.id), p.Dim(fmt.Sprintf("(%s) in %s, known", c.level, scenarioNames(c.worst))))
		p.para(indent, first.Detail)
		p.para(indent+"accepted until "+why.Expires+": ", why.Reason)
		p.fix(c, first)
	}
}

func (p *page) section(title string) {
	p.line("")
	p.line("%s", title)
}

func (p *page) undecided(all []clause) {
	if len(all) == 0 {
		return
	}
	p.section(p.Yellow(fmt.Sprintf("inconclusive (%d)", len(all))))
	for _, c := range all {
		p.para(indent, fmt.Sprintf("%s (%s, in %s): %s", c.id, c.level, scenarioNames(c.worst), c.worst[0].Detail))
	}
}

func (p *page) kept(all []clause) {
	if len(all) == 0 {
		return
	}
	p.section(p.Green(fmt.Sprintf("pass (%d)", len(all))))
	p.para(indent, strings.Join(ids(all), ", "))
}

// A few clauses that were not exercised are worth their reasons; of many the names must do.
const mostReasons = 4

// unexercised groups the clauses by the reason, which several often share.
func (p *page) unexercised(all []clause) {
	if len(all) == 0 {
		return
	}
	p.section(p.Dim(fmt.Sprintf("not-exercised (%d)", len(all))))
	if len(all) > mostReasons {
		p.para(indent, strings.Join(ids(all), ", ")+" (the json report says why)")
		return
	}
	var reasons []string
	by := map[string][]string{}
	for _, c := range all {
		why := c.worst[0].Detail
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
		by[why] = append(by[why], c.id)
	}
	for _, why := range reasons {
		text := strings.Join(by[why], ", ")
		if why != "" {
			text += ": " + why
		}
		p.para(indent, text)
	}
}

func (p *page) verdict(r Report) {
	shade := p.Yellow
	switch r.Exit {
	case ExitBroken, ExitTrouble:
		shade = p.Red
	case ExitKept:
		shade = p.Green
	}
	for i, l := range Wrap("verdict: "+r.Conclusion(), p.width) {
		if i == 0 {
			// The word that counts is coloured, the explanation is not.
			word, rest, _ := strings.Cut(l, ")")
			l = shade(word+")") + rest
		}
		p.line("%s", l)
	}
}

func scenarioNames(all []Result) string {
	names := make([]string, len(all))
	for i, x := range all {
		names[i] = x.Scenario
	}
	return strings.Join(names, ", ")
}
