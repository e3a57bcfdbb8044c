package report

import (
	"fmt"
	"strings"
	"unicode"
)

// notes shows what else a reader should know. Those that differ in numbers only, as of twenty clients that were all
// stopped, are shown once.
func (p *page) notes(r Report) {
	lines := fold(r.Notes)
	for _, s := range r.Scenarios {
		for _, n := range fold(s.Notes) {
			lines = append(lines, s.Name+": "+n)
		}
	}
	if len(lines) == 0 {
		return
	}
	p.section(p.Bold("notes"))
	for _, l := range lines {
		p.para(indent+"- ", l)
	}
}

func fold(notes []string) (lines []string) {
	var shapes []string
	first, alike := map[string]string{}, map[string]int{}
	for _, n := range notes {
		shape := withoutNumbers(n)
		if alike[shape] == 0 {
			first[shape], shapes = n, append(shapes, shape)
		}
		alike[shape]++
	}
	for _, shape := range shapes {
		line := first[shape]
		if n := alike[shape] - 1; n > 0 {
			line += fmt.Sprintf(" (and %d more like it)", n)
		}
		lines = append(lines, line)
	}
	return lines
}

func withoutNumbers(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s)
}
