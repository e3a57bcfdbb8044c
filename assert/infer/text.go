package infer

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

func init() {
	Formats.Add("text", Format{Name: "text", Summary: "for people: a sentence and a table", Write: writeText})
}

func writeText(w io.Writer, in Inference, width int) error {
	if width <= 0 {
		width = 100
	}
	var b strings.Builder
	for i, p := range in.Policies {
		if i > 0 {
			b.WriteString("\n")
		}
		who := "the client"
		if p.Client != "" {
			who = p.Client
		}
		fmt.Fprintf(&b, "%s: %s, %s\n", who, plural(p.Policy.Calls, "call", "calls"), plural(p.Policy.Requests, "request", "requests"))
		fold(&b, "  ", "  ", p.Sentence+".", width)
		b.WriteString("\n")
		rows := append([]row{{"", "finding", "sure", "from"}}, p.Policy.rows()...)
		left, middle := 0, 0
		for _, r := range rows {
			left, middle = max(left, len(r.what)), max(middle, min(utf8.RuneCountInString(r.found), width-left-36))
		}
		for _, r := range rows {
			table(&b, r, left, max(middle, 20))
		}
		if open := p.Policy.Open(); len(open) > 0 {
			b.WriteString("\n  open\n")
			for _, o := range open {
				fold(&b, "  - ", "    ", o, width)
			}
		}
		for _, n := range p.Policy.Notes {
			fold(&b, "  note  ", "        ", n, width)
		}
	}
	for _, n := range in.Notes {
		fold(&b, "note  ", "      ", n, width)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// table writes one row; a finding that is too long goes on below.
func table(b *strings.Builder, r row, left, middle int) {
	lines := wrapped(r.found, middle)
	for i, line := range lines {
		if i > 0 {
			r = row{}
		}
		text := fmt.Sprintf("  %-*s  %-*s  %4s  %s", left, r.what, middle, line, r.sure, r.basis)
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
}

// fold writes text in lines, the first behind a label.
func fold(b *strings.Builder, label, indent, text string, width int) {
	for i, line := range wrapped(text, width-len(label)) {
		if i == 0 {
			b.WriteString(label + line + "\n")
		} else {
			b.WriteString(indent + line + "\n")
		}
	}
}

// wrapped breaks text between words.
func wrapped(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
