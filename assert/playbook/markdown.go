package playbook

import (
	"fmt"
	"io"
	"strings"

	"github.com/retrygate/retrygate/assert/report"
)

func init() {
	register(Format{Name: "markdown", Summary: "for an issue or a mail to a client's owner", Write: writeMarkdown})
}

func writeMarkdown(w io.Writer, f Findings, _ report.Style) error {
	var b strings.Builder
	fmt.Fprintf(&b, "### retrygate: %s\n\n%s, judged by contract **%s**.\n\n", f.Verdict, escape(f.heading()), escape(f.Contract.Name))
	if len(f.Accused) > 1 {
		b.WriteString("| client | endpoint | redundant | requests | median client | a minute | answers |\n|---|---|--:|--:|--:|--:|---|\n")
		for _, c := range f.Accused {
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %s |\n", escape(c.Name), escape(c.where()), c.Redundant, c.Requests, c.Usual, c.PeakRate, escape(c.shares()))
		}
		b.WriteString("\n")
	}
	for i, c := range f.Accused {
		if i == mostPages {
			break
		}
		mdClient(&b, c)
	}
	if len(f.Alerts) > 0 {
		b.WriteString("#### Alerts\n\n")
		for _, a := range f.Alerts {
			fmt.Fprintf(&b, "- %s\n", escape(a.text()))
		}
		b.WriteString("\n")
	}
	if len(f.Others) > 0 {
		b.WriteString("#### Not accused\n\n| client | endpoint | requests | a minute | answers | |\n|---|---|--:|--:|---|---|\n")
		for _, c := range f.Others {
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %s | %s |\n", escape(c.Name), escape(c.where()), c.Requests, c.PeakRate, escape(c.shares()), escape(c.Pattern))
		}
		b.WriteString("\n")
	}
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "> %s\n\n", escape(n))
	}
	fmt.Fprintf(&b, "**Verdict: %s**\n", escape(f.Conclusion()))
	_, err := io.WriteString(w, b.String())
	return err
}

// mdClient is the page of evidence of one client.
func mdClient(b *strings.Builder, c Client) {
	fmt.Fprintf(b, "#### %s on %s\n\n**%s.**\n\n", escape(c.Name), escape(c.where()), escape(strings.ToUpper(c.Pattern[:1])+c.Pattern[1:]))
	for _, f := range c.facts() {
		fmt.Fprintf(b, "- **%s**: %s\n", f.What, escape(f.Text))
	}
	for _, broken := range c.Breaks {
		fmt.Fprintf(b, "- **breaks `%s`** (%s): %s\n", broken.Clause, broken.Level, escape(broken.Detail))
	}
	if len(c.Breaks) > 0 {
		first := c.Breaks[0]
		if first.Fix != "" {
			fmt.Fprintf(b, "\n**What to change:** %s\n", escape(first.Fix))
		}
		if len(first.Witness) > 0 {
			b.WriteString("\n| # | at | request | answer | wait before |\n|--:|--:|---|---|--:|\n")
			for _, row := range witness(first.Witness) {
				fmt.Fprintf(b, "| %s |\n", strings.Join(escapeAll(row), " | "))
			}
		}
	}
	b.WriteString("\n")
}

// mostWitness bounds the exchanges that a page shows.
const mostWitness = 12

// witness lays the exchanges out: number, time, request, answer, wait.
func witness(all []report.Witness) (rows [][]string) {
	for _, w := range all[:min(len(all), mostWitness)] {
		gap := ""
		if w.GapMS != nil {
			gap = report.Span(*w.GapMS)
		}
		rows = append(rows, []string{fmt.Sprint(w.Seq), report.Span(w.AtMS), strings.TrimSpace(w.Method + " " + w.Path), report.Answer(w), gap})
	}
	return rows
}

var escapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "@", "@\u200b",
)

// escape keeps a client's words from being read as markup or as a mention of someone.
func escape(s string) string { return escapes.Replace(report.Clean(s)) }

func escapeAll(all []string) []string {
	for i := range all {
		all[i] = escape(all[i])
	}
	return all
}
