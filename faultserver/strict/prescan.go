package strict

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// The YAML library's time grows with the square of some inputs (measured: 160 s for 128 KiB of empty lines in a block
// scalar). Each bound keeps one of them below a second and lies far above what a file for people holds.
const (
	maxTokens = 20_000 // keys, values and punctuation
	maxBlank  = 50     // empty lines in a row
	maxAngles = 100    // '<' in a row
	firstBite = 1 << 16
)

// readable brings the text into the form that the rest relies on: UTF-8 without byte order mark, lines that end in \n, no
// control characters, no run that the library is slow on. It reports false after an error.
func readable(d *decoder, data []byte) (string, bool) {
	if len(data) > MaxBytes {
		d.fail(1, 1, "", "the file has %d bytes; at most %d are read", len(data), MaxBytes)
		return "", false
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	blank := 0
	for i, line := range bytes.Split(data, []byte("\n")) {
		if column, what := unreadable(line); column > 0 {
			d.fail(i+1, column, "", "%s", what)
			return "", false
		}
		if blank++; len(bytes.TrimSpace(line)) > 0 {
			blank = 0
		}
		if blank > maxBlank {
			d.fail(i+1, 1, "", "more than %d empty lines in a row; take some out", maxBlank)
			return "", false
		}
	}
	// Without a line end the library folds the last line of a block scalar wrongly.
	return string(data) + "\n", true
}

// unreadable finds the first character of a line that a file may not hold; column 0 if there is none.
func unreadable(line []byte) (column int, what string) {
	angles := 0
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		column++
		if angles++; r != '<' {
			angles = 0
		}
		switch {
		case r == utf8.RuneError && size == 1:
			return column, "not UTF-8 text; save the file as UTF-8"
		case r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 && r != 0x85 || r == '\ufeff' || r == 0xfffe || r == 0xffff:
			return column, "a control character (" + strings.Trim(quoteRune(r), "'") + ") stands here; write it as an escape in double quotes"
		case angles > maxAngles:
			return column, "more than 100 '<' in a row"
		}
		i += size
	}
	return 0, ""
}

// tokens cuts the text up. It tries a beginning first, since the library only stops at the end of what it is given and a
// hostile file is dense from the start.
func tokens(d *decoder, text string) (token.Tokens, bool) {
	if len(text) > firstBite {
		if !bounded(d, lexer.Tokenize(strings.ToValidUTF8(text[:firstBite], ""))) {
			return nil, false
		}
	}
	all := lexer.Tokenize(text)
	return all, bounded(d, all)
}

// bounded checks how many tokens there are and how deep they nest, before anything recursive sees them.
func bounded(d *decoder, all token.Tokens) bool {
	flow := 0
	var block []int // columns of the open block collections
	for _, tk := range all {
		switch tk.Type {
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow = max(0, flow-1)
		case token.SequenceEntryType, token.MappingValueType, token.MappingKeyType:
			if flow > 0 {
				continue
			}
			column := opens(tk)
			for len(block) > 0 && block[len(block)-1] > column {
				block = block[:len(block)-1]
			}
			if len(block) == 0 || block[len(block)-1] < column {
				block = append(block, column)
			}
		}
		if flow+len(block) > MaxDepth {
			d.fail(tk.Position.Line, max(1, tk.Position.Column), "", "nested more than %d deep", MaxDepth)
			return false
		}
	}
	if len(all) > maxTokens {
		p := all[maxTokens].Position
		d.fail(p.Line, max(1, p.Column), "", "the file holds too many values: more than %d keys, values and brackets", maxTokens)
		return false
	}
	return true
}

// opens is the column where the collection that the token belongs to begins: a mapping begins at its key.
func opens(tk *token.Token) int {
	if tk.Type == token.MappingValueType && tk.Prev != nil && tk.Prev.Position.Line == tk.Position.Line {
		return tk.Prev.Position.Column
	}
	return tk.Position.Column
}
