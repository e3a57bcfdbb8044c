package infer

import (
	"fmt"
	"io"
	"strings"
)

func init() {
	Formats.Add("markdown", Format{Name: "markdown", Summary: "for a page or a pull request", Write: writeMarkdown})
}

func writeMarkdown(w io.Writer, in Inference, _ int) error {
	var b strings.Builder
	b.WriteString("### The retry policy that was seen\n\n")
	for _, p := range in.Policies {
		if p.Client != "" {
			fmt.Fprintf(&b, "#### %s\n\n", cell(p.Client))
		}
		fmt.Fprintf(&b, "%s.\n\n| | finding | sure | from |\n|---|---|---|---|\n", cell(p.Sentence))
		for _, r := range p.Policy.rows() {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(r.what), cell(r.found), r.sure, cell(r.basis))
		}
		b.WriteString("\n")
		for _, o := range p.Policy.Open() {
			fmt.Fprintf(&b, "- open: %s\n", cell(o))
		}
		for _, n := range p.Policy.Notes {
			fmt.Fprintf(&b, "- %s\n", cell(n))
		}
	}
	for _, n := range in.Notes {
		fmt.Fprintf(&b, "- %s\n", cell(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell keeps words from being read as markup.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "`", "\\`", "_", `\_`, "[", `\[`, "@", "@\u200b").Replace(s)
}
