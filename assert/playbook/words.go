package playbook

import (
	"fmt"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert/report"
)

// Conclusion is the last line of a page: the verdict, the exit code and what they mean.
func (f Findings) Conclusion() string {
	var what []string
	if n := len(names(f.Accused)); n > 0 {
		what = append(what, fmt.Sprintf("%s sent %s that the contract does not allow", plural(n, "client"), plural(f.Redundant, "request")))
	}
	if n := len(f.Alerts); n > 0 {
		what = append(what, plural(n, "alert"))
	}
	if len(what) == 0 {
		what = append(what, "no client stands out")
	}
	return fmt.Sprintf("%s (exit %d): %s.", f.Verdict, f.Exit, strings.Join(what, "; "))
}

func names(clients []Client) map[string]bool {
	seen := map[string]bool{}
	for _, c := range clients {
		seen[c.Name] = true
	}
	return seen
}

// heading says what was looked at.
func (f Findings) heading() string {
	text := fmt.Sprintf("%s by %s", plural(f.Requests, "request"), plural(f.Clients, "client"))
	if f.Seconds > 0 {
		text += " in " + report.Span(f.Seconds*1000)
	}
	if f.Began != nil {
		text += " from " + moment(f.Began)
	}
	return text
}

// shares lists how often each status came: "400 in 100 %".
func (c Client) shares() string { return shareText(c.Statuses) }

const mostStatuses = 5

func shareText(all []Status) string {
	var each []string
	for i, s := range all {
		if i == mostStatuses {
			each = append(each, "others")
			break
		}
		name := fmt.Sprint(s.Status)
		if s.Status == 0 {
			name = "no answer"
		}
		each = append(each, fmt.Sprintf("%s %s", name, percent(s.Share)))
	}
	return strings.Join(each, ", ")
}

func percent(share float64) string {
	switch p := 100 * share; {
	case p > 0 && p < 0.1:
		return "<0.1 %"
	case p > 99.9 && p < 100:
		return ">99.9 %"
	case p < 10 && p != float64(int(p)):
		return fmt.Sprintf("%.1f %%", p)
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// fact is a line of a client's page.
type fact struct{ What, Text string }

// facts are what a client's page says, in the order in which people look.
func (c Client) facts() []fact {
	requests, rate := fmt.Sprintf("%d, and no other client uses the endpoint", c.Requests), fmt.Sprintf("up to %d a minute", c.PeakRate)
	if c.Peers > 0 {
		requests = fmt.Sprintf("%d, %s of the endpoint's; the median client sent %d", c.Requests, percent(c.Share), c.Usual)
		rate += fmt.Sprintf("; the median client's busiest minute has %d", c.UsualRate)
	}
	if c.CalmRate > 0 {
		rate += fmt.Sprintf("; its own while all was well %d", c.CalmRate)
	}
	all := []fact{{"requests", requests}, {"rate", rate}, {"answers", c.shares()}}
	if p := c.Payloads; p != nil {
		text := fmt.Sprintf("%d failed requests carried %s", p.Of, plural(p.Distinct, "payload"))
		if p.Distinct == 1 {
			text = fmt.Sprintf("all %d failed requests carried one payload", p.Of)
		}
		all = append(all, fact{"payloads", text})
	}
	if s := c.Spacing; s != nil {
		all = append(all, fact{"spacing", fmt.Sprintf("repeats came %s after the failure on average (median %s, nine in ten between %s and %s)",
			report.Span(s.MeanMS), report.Span(s.MedianMS), report.Span(s.P5MS), report.Span(s.P95MS))})
	}
	if s := c.Storm; s != nil {
		from, to := report.Span(s.FromS*1000)+" into the log", report.Span(s.ToS*1000)
		if s.From != nil {
			from, to = moment(s.From), moment(s.To)
		}
		all = append(all, fact{"storm", fmt.Sprintf("from %s to %s; in %s, %.0f a minute on average and %d at the worst", from, to, plural(s.Minutes, "minute"), s.Rate, s.Peak)})
	}
	if c.Repeats > 0 {
		all = append(all, fact{"redundant", fmt.Sprintf("%d of %s", c.Redundant, plural(c.Repeats, "repeat"))})
	}
	return all
}

func moment(t *time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func (c Client) where() string { return strings.TrimSpace(c.Method + " " + c.Path) }

func (a Alert) text() string {
	when := report.Span(a.AtS*1000) + " into the log"
	if a.At != nil {
		when = moment(a.At)
	}
	return fmt.Sprintf("%s sent more than %s to %s, from %s on (%d times)", a.Client, a.Limit, strings.TrimSpace(a.Method+" "+a.Path), when, a.Exceeded)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
