package report

import (
	"fmt"
	"strings"
)

// In step means that all waits before a retry lie within this share of their median, or within lockstepMS.
const (
	lockstepShare = 0.02
	lockstepMS    = 5
	mostWaits     = 8
)

// waits shows the waits that the clients chose by themselves, a scenario a line.
func (p *page) waits(all []Wait) {
	if len(all) == 0 {
		return
	}
	p.section(p.Bold("waits seen (without those that a Retry-After set)"))
	names, by := byScenario(all)
	column := 0
	for _, n := range names {
		column = max(column, len(n))
	}
	for _, n := range names {
		p.para(fmt.Sprintf("%s%-*s  ", indent, column, n), Waits(by[n]))
	}
}

func byScenario(all []Wait) (names []string, by map[string][]Wait) {
	by = map[string][]Wait{}
	for _, w := range all {
		if _, ok := by[w.Scenario]; !ok {
			names = append(names, w.Scenario)
		}
		by[w.Scenario] = append(by[w.Scenario], w)
	}
	return names, by
}

// Waits writes the waits of one scenario in a line: the medians when all callers keep in step, else the ranges.
func Waits(all []Wait) string {
	var each []string
	spread, step := 0.0, true
	for _, w := range all {
		width := w.MaxMS - w.MinMS
		spread = max(spread, width)
		step = step && width <= max(lockstepMS, lockstepShare*w.MedianMS)
	}
	for i, w := range all {
		if i == mostWaits {
			each = append(each, fmt.Sprintf("%d more", len(all)-mostWaits))
			break
		}
		if step {
			each = append(each, Span(w.MedianMS))
		} else {
			each = append(each, spans(w.MinMS, w.MaxMS))
		}
	}
	line := strings.Join(each, ", ")
	switch n := all[0].N; {
	case n == 1:
		return line + " (1 call)"
	case step:
		return fmt.Sprintf("%s (%d calls, all within %s)", line, n, Span(spread))
	default:
		return fmt.Sprintf("%s (%d calls)", line, n)
	}
}
