package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/retrygate/retrygate/assert"
)

func init() {
	register(Format{Name: "markdown", Summary: "for a pull request comment", Write: writeMarkdown})
}

func writeMarkdown(w io.Writer, r Report, _ Style) error {
	var b strings.Builder
	all := clauses(r)
	broken, warned := split(with(all, assert.Fail), r.FailOn)

	fmt.Fprintf(&b, "### retrygate: %s\n\n", r.Verdict)
	for _, c := range r.Clients {
		what := c.Name
		if len(c.Command) > 0 {
			what = Quote(c.Command)
		}
		fmt.Fprintf(&b, "%s judged by contract **%s**", code(what), escape(r.Contract.Name))
		if r.Seed != 0 {
			fmt.Fprintf(&b, ", seed %d", r.Seed)
		}
		if len(r.Scenarios) > 0 {
			fmt.Fprintf(&b, "; %s%s", tally(r), hastened(r))
		}
		b.WriteString(".\n\n")
	}
	if calls := toldApart(r); calls != "" {
		fmt.Fprintf(&b, "Calls: %s.", escape(calls))
		if apart := notCharged(r); apart != "" {
			fmt.Fprintf(&b, " Not charged as retries: %s.", escape(apart))
		}
		b.WriteString("\n\n")
	}
	for _, e := range r.Errors {
		fmt.Fprintf(&b, "> **Not judged:** %s\n\n", escape(strings.ReplaceAll(strings.TrimSpace(e), "\n", " / ")))
	}
	mdTable(&b, broken, warned, with(all, assert.Inconclusive))
	mdAccepted(&b, r)
	mdNames(&b, "Pass", with(all, assert.Pass))
	mdNames(&b, "Not exercised", with(all, assert.NotExercised))
	mdEvidence(&b, broken)
	mdWaits(&b, r.Waits)
	mdPolicy(&b, r.Policy)
	fmt.Fprintf(&b, "**Verdict: %s**\n", r.Conclusion())
	_, err := io.WriteString(w, b.String())
	return err
}

func mdTable(b *strings.Builder, broken, warned, undecided []clause) {
	if len(broken)+len(warned)+len(undecided) == 0 {
		return
	}
	b.WriteString("| | clause | level | in | what happened |\n|---|---|---|---|---|\n")
	rows := func(mark string, all []clause) {
		for _, c := range all {
			first := c.worst[0]
			what := escape(first.Detail)
			if first.Fix != "" {
				what += "<br>**Fix:** " + escape(first.Fix)
			}
			fmt.Fprintf(b, "| %s | `%s` | %s | %s | %s |\n", mark, c.id, c.level, escape(scenarioNames(c.worst)), what)
		}
	}
	rows("**fail**", broken)
	rows("warning", warned)
	rows("inconclusive", undecided)
	b.WriteString("\n")
}

func mdAccepted(b *strings.Builder, r Report) {
	all := known(r)
	if len(all) == 0 {
		return
	}
	b.WriteString("| known | level | in | what happened | accepted until | because |\n|---|---|---|---|---|---|\n")
	for _, c := range all {
		why := r.acceptedAs(c.worst[0])
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s | %s |\n", c.id, c.level, escape(scenarioNames(c.worst)), escape(c.worst[0].Detail),
			why.Expires, escape(why.Reason))
	}
	b.WriteString("\n")
}

func mdNames(b *strings.Builder, title string, all []clause) {
	if len(all) > 0 {
		fmt.Fprintf(b, "%s (%d): `%s`\n\n", title, len(all), strings.Join(ids(all), "`, `"))
	}
}

// mdEvidence folds each witness away, laid out as in the text report.
func mdEvidence(b *strings.Builder, broken []clause) {
	for _, c := range broken {
		first := c.worst[0]
		if len(first.Witness) == 0 {
			continue
		}
		p := &page{width: widest}
		p.witness(first.Witness)
		fmt.Fprintf(b, "<details><summary>Evidence for <code>%s</code> in %s</summary>\n\n~~~text\n%s\n~~~\n\n</details>\n\n",
			c.id, escape(first.Scenario), strings.Trim(p.String(), "\n"))
	}
}

func mdWaits(b *strings.Builder, all []Wait) {
	if len(all) == 0 {
		return
	}
	b.WriteString("Waits seen, without those that a Retry-After set:\n\n")
	names, by := byScenario(all)
	for _, n := range names {
		fmt.Fprintf(b, "- %s: %s\n", escape(n), Waits(by[n]))
	}
	b.WriteString("\n")
}

var escapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "@", "@\u200b",
)

// escape keeps a client's words from being read as markup or as a mention of someone.
func escape(s string) string { return escapes.Replace(Clean(s)) }

// code sets s as inline code, inside a longer fence than any in it.
func code(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	pad := ""
	if len(fence) > 1 {
		pad = " "
	}
	return fence + pad + Clean(s) + pad + fence
}
