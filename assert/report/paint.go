package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Paint colours text with ANSI sequences; the zero value leaves it plain.
type Paint bool

// Red is for what breaks a build.
func (p Paint) Red(s string) string { return p.in("1;31", s) }

// Yellow is for what wants a look.
func (p Paint) Yellow(s string) string { return p.in("33", s) }

// Green is for what is well.
func (p Paint) Green(s string) string { return p.in("32", s) }

// Cyan is for what can be typed.
func (p Paint) Cyan(s string) string { return p.in("36", s) }

// Bold is for headings.
func (p Paint) Bold(s string) string { return p.in("1", s) }

// Dim is for what the eye may skip.
func (p Paint) Dim(s string) string { return p.in("2", s) }

func (p Paint) in(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Clean makes a client's words safe to show: control characters, which could drive the reader's terminal, and marks that
// turn the direction of text are written as escapes.
func Clean(s string) string {
	if !strings.ContainsFunc(s, unsafe) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unsafe(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unsafe(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }

// Wrap breaks s between words into lines of at most width columns; a longer word stands alone.
func Wrap(s string, width int) []string {
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(s) {
		n := utf8.RuneCountInString(word)
		if line != "" && used+1+n > width {
			lines, line, used = append(lines, line), "", 0
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}

// shorten cuts the middle out of s so that it takes at most width columns.
func shorten(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width || width < 5 {
		return s
	}
	head := (width - 3 + 1) / 2
	tail := width - 3 - head
	return string(runes[:head]) + "..." + string(runes[len(runes)-tail:])
}
