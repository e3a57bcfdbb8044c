package playbook

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
)

func init() {
	register(Format{Name: "text", Summary: "for people, at a terminal", Write: writeText})
}

// mostPages bounds the accused whose pages the overview shows in full.
const mostPages = 5

// text is a page in the making.
type text struct {
	strings.Builder
	report.Paint
	width int
}

func writeText(w io.Writer, f Findings, s report.Style) error {
	p := &text{Paint: report.Paint(s.Color), width: min(max(s.Width, 72), 100)}
	if s.Width == 0 {
		p.width = 100
	}
	p.para("", "", f.heading())
	p.table(f)
	for i, c := range f.Accused {
		if i == mostPages {
			p.para("\n", "", fmt.Sprintf("and %s; --client NAME has the page of each", fmt.Sprintf("%d more", len(f.Accused)-mostPages)))
			break
		}
		p.client(c)
	}
	p.list("alerts", f.Alerts)
	if len(f.Others) > 0 {
		fmt.Fprintf(p, "\n%s\n", p.Bold("not accused (the busiest)"))
		for _, c := range f.Others {
			p.other(c)
		}
	}
	for _, n := range f.Notes {
		p.para("\n", p.Dim("note  "), n)
	}
	fmt.Fprintf(p, "\n%s %s\n", p.Bold("verdict:"), p.verdict(f.Verdict, report.Clean(f.Conclusion())))
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *text) verdict(v assert.Verdict, s string) string {
	switch v {
	case assert.Fail:
		return p.Red(s)
	case assert.Inconclusive:
		return p.Yellow(s)
	default:
		return p.Green(s)
	}
}

// table lists the accused, a line each.
func (p *text) table(f Findings) {
	if len(f.Accused) < 2 {
		return
	}
	fmt.Fprintf(p, "\n%s\n%9s %9s %7s %7s  %s\n", p.Bold("accused, the worst first"), "redundant", "requests", "usual", "per min", "client, endpoint")
	for i, c := range f.Accused {
		if i == 4*mostPages {
			break
		}
		rest := report.Clean(c.Name + "  " + c.where())
		fmt.Fprintf(p, "%9d %9d %7d %7d  %s\n", c.Redundant, c.Requests, c.Usual, c.PeakRate, cut(rest, p.width-38))
	}
}

// client is the page of one client.
func (p *text) client(c Client) {
	fmt.Fprintf(p, "\n%s  %s\n", p.Red("FAIL"), p.Bold(cut(report.Clean(c.Name+"  "+c.where()), p.width-6)))
	p.para("", "      ", c.Pattern)
	for _, f := range c.facts() {
		p.para("", "      "+p.Dim(fmt.Sprintf("%-10s", f.What)), f.Text)
	}
	for _, b := range c.Breaks {
		p.para("", "      "+p.Dim(fmt.Sprintf("%-10s", "breaks")), fmt.Sprintf("%s (%s): %s", b.Clause, b.Level, b.Detail))
	}
	if len(c.Breaks) > 0 && c.Breaks[0].Fix != "" {
		p.para("", "      "+p.Dim(fmt.Sprintf("%-10s", "fix")), c.Breaks[0].Fix)
	}
}

func (p *text) other(c Client) {
	p.para("", "  ", fmt.Sprintf("%s  %s: %d, up to %d a minute, %s; %s", c.Name, c.where(), c.Requests, c.PeakRate, c.shares(), c.Pattern))
}

func (p *text) list(title string, alerts []Alert) {
	if len(alerts) == 0 {
		return
	}
	fmt.Fprintf(p, "\n%s\n", p.Bold(title))
	for i, a := range alerts {
		if i == 2*mostShown {
			p.para("", "  ", fmt.Sprintf("%d more", len(alerts)-i))
			break
		}
		p.para("", "  ", a.text())
	}
}

// para writes words behind a label, and wraps them under themselves.
func (p *text) para(before, label, words string) {
	indent := columnsOf(label)
	p.WriteString(before)
	for i, line := range report.Wrap(report.Clean(words), p.width-indent) {
		if i > 0 {
			label = strings.Repeat(" ", indent)
		}
		p.WriteString(strings.TrimRight(label+line, " ") + "\n")
	}
}

// columnsOf counts what is seen of s: colours are not.
func columnsOf(s string) int {
	n := 0
	for s != "" {
		if strings.HasPrefix(s, "\x1b[") {
			_, s, _ = strings.Cut(s, "m")
			continue
		}
		_, size := utf8.DecodeRuneInString(s)
		s, n = s[size:], n+1
	}
	return n
}

func cut(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width || width < 8 {
		return s
	}
	return string(runes[:width-3]) + "..."
}
