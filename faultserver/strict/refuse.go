package strict

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/token"
)

// plainOnly refuses the parts of YAML that hide what a file says. All of them are reported, not only the first.
func plainOnly(d *decoder, all token.Tokens, text string) bool {
	before := len(d.mistakes)
	lines := strings.Split(text, "\n")
	flow, started, tabbedLine := 0, false, 0
	for i, tk := range all {
		why := ""
		inFlow := flow > 0 // also for the bracket that ends it
		switch tk.Type {
		case token.AnchorType:
			why = "anchors are refused: write the value out where it is used (quote it if text was meant)"
		case token.AliasType:
			why = "aliases are refused: write the value out (quote it if text was meant)"
		case token.MergeKeyType:
			why = "merge keys (<<) are refused: write the fields out"
		case token.TagType:
			why = "tags are refused: write plain values (quote it if text was meant)"
		case token.DirectiveType:
			d.fail(tk.Position.Line, tk.Position.Column, tk.Value, "directives (%%) are refused (quote it if text was meant)")
			return false // what follows reads differently with it
		case token.MappingKeyType:
			why = "complex keys (?) are refused: write key: value"
		case token.MappingValueType:
			why = oddColon(tk, flow > 0)
		case token.DocumentHeaderType:
			if started {
				why = "a second document begins here; a file holds one"
			}
		case token.DocumentEndType:
			if i != len(all)-1 {
				why = "the document ends here, but more follows; a file holds one"
			}
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow = max(0, flow-1)
		}
		if why == "" && !inFlow && tk.Position.Line != tabbedLine && tabbed(lines, tk) {
			tabbedLine = tk.Position.Line
			why = "a tab stands in the indentation; YAML takes spaces only"
		}
		if why != "" {
			d.fail(tk.Position.Line, max(1, tk.Position.Column), tk.Value, "%s", why)
		}
		started = started || tk.Type != token.CommentType
	}
	return len(d.mistakes) == before
}

// oddColon tells what is wrong with a colon that the library lets pass: one that does not stand behind its key, and one
// that runs into the value, which YAML reads as part of the key.
func oddColon(tk *token.Token, inFlow bool) string {
	key, value := tk.Prev, tk.Next
	switch {
	case key == nil || !inFlow && key.Position.Line != tk.Position.Line:
		return "a colon without a key before it on its line"
	case key.Type == token.SingleQuoteType || key.Type == token.DoubleQuoteType || value == nil:
		return ""
	case value.Position.Line == tk.Position.Line && value.Position.Column == tk.Position.Column+1:
		return "write a space after the colon (quote the whole if text was meant)"
	}
	return ""
}

// tabbed reports whether the token's line is indented with a tab. The library takes some of those for no indentation at
// all, which changes what the file means. Comments and the inside of block scalars may hold tabs.
func tabbed(lines []string, tk *token.Token) bool {
	if tk.Type == token.CommentType || tk.Position.Line < 1 || tk.Position.Line > len(lines) {
		return false
	}
	if tk.Prev != nil && (tk.Prev.Type == token.LiteralType || tk.Prev.Type == token.FoldedType) {
		return false
	}
	line := lines[tk.Position.Line-1]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return strings.Contains(indent, "\t")
}

func quoteRune(r rune) string { return strconv.QuoteRuneToASCII(r) }
