package infer

import (
	"fmt"
	"strconv"
	"strings"
)

// row is one line of the table: what, the finding, how sure it is, and what it rests on.
type row struct{ what, found, sure, basis string }

// rows are the table of a policy.
func (p Policy) rows() []row {
	rows := []row{{"attempts", p.attemptsCell(), sure(p.Attempts.Confidence), fmt.Sprintf("%s ended with a failure; %d attempts at most", plural(p.Attempts.Ended, "call", "calls"), p.Attempts.Seen)}}
	label := ""
	if p.Other != nil {
		label = " after " + p.After
	}
	rows = append(rows, p.Backoff.rows(label)...)
	if p.Other != nil {
		other := " after network"
		if p.After == "network" {
			other = " after statuses"
		}
		rows = append(rows, p.Other.rows(other)...)
	}
	for _, v := range [...]Verdict{Retried, Once, WithRetryAfter, Sometimes, NotRetried} {
		rows = append(rows, p.answerRow(v)...)
	}
	for _, m := range p.Methods {
		rows = append(rows, row{m.Method, string(m.Verdict), sure(m.Confidence), fmt.Sprintf("%d of %s", m.Retried, plural(m.Met, "failure", "failures"))})
	}
	if r := p.RetryAfter; r.Verdict != HeedUnseen {
		rows = append(rows, row{"Retry-After", r.text(), sure(r.Confidence), plural(r.Met, "answer", "answers") + " asked for a wait"})
	}
	if b := p.Budget; b != nil {
		rows = append(rows, row{"budget", fmt.Sprintf("%v retries for each call", b.Ratio), sure(b.Confidence), plural(b.Free, "retry", "retries") + " before it held"})
	}
	if b := p.Breaker; b != nil {
		rows = append(rows, row{"breaker", fmt.Sprintf("opens after %s for %s", plural(b.Failures, "failure", "failures"), spanRange(b.Open.Low, b.Open.High)), sure(b.Confidence), plural(b.Probes, "probe", "probes") + " between pauses"})
	}
	return rows
}

func (p Policy) attemptsCell() string {
	a := p.Attempts
	switch {
	case a.Within != nil:
		return "as many as fit into " + spanRange(a.Within.Low, a.Within.High)
	case a.Max > 0:
		return strconv.Itoa(a.Max) + " at most"
	default:
		return strconv.Itoa(a.Seen) + " or more"
	}
}

func (b Backoff) rows(label string) []row {
	if b.Waits == 0 {
		return nil
	}
	g, x := b.Growth, b.Jitter
	basis := fmt.Sprintf("%s of %s", plural(b.Waits, "wait", "waits"), plural(b.Calls, "call", "calls"))
	growth := g.Family
	switch {
	case g.Family == Undecided && len(g.Candidates) > 0:
		growth = "open: " + candidateNames(g.Candidates)
	case g.Multiplier > 0:
		growth += fmt.Sprintf(" x%v", g.Multiplier)
	case len(g.Named) > 0:
		growth += ": " + listed(g.Named, "or")
	}
	jitter := string(x.Kind)
	switch {
	case x.Kind == Undecided && len(x.Candidates) > 0:
		jitter = "open: " + candidateNames(x.Candidates)
	case x.Proportion > 0:
		jitter += fmt.Sprintf(" %v", x.Proportion)
	case x.Added > 0:
		jitter += " " + span(x.Added)
	}
	rows := []row{{"growth" + label, growth, sure(g.Confidence), basis}, {"jitter" + label, jitter, sure(x.Confidence), basis}}
	rows = append(rows, row{"first wait" + label, spanRange(b.First.Low, b.First.High), "", "as seen"})
	if b.Initial != nil {
		rows = append(rows, row{"initial backoff" + label, span(b.Initial.Value), "", "between " + spanRange(b.Initial.Low, b.Initial.High)})
	}
	if len(g.Schedule) > 0 {
		rows = append(rows, row{"schedule" + label, strings.TrimPrefix(strings.SplitN(b.scheduleText(), " (as", 2)[0], "waits by a list: "), "", ""})
	}
	if b.Max != nil {
		rows = append(rows, row{"max backoff" + label, span(b.Max.Value), "", "between " + spanRange(b.Max.Low, b.Max.High)})
	} else {
		rows = append(rows, row{"max backoff" + label, "none reached", "", "longest wait " + span(b.Longest)})
	}
	return rows
}

func (p Policy) answerRow(v Verdict) []row {
	met, least := 0, 1.0
	for _, a := range p.Answers {
		if a.Verdict == v {
			met += a.Met
			least = min(least, a.Confidence)
		}
	}
	if met == 0 {
		return nil
	}
	what := string(v)
	if v == Once || v == Sometimes || v == WithRetryAfter {
		what = "retried " + what
	}
	return []row{{what, listed(p.names(v), "and"), sure(least), plural(met, "answer", "answers")}}
}

// sure writes a confidence.
func sure(c float64) string {
	if c == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", 100*min(c, 0.99))
}
