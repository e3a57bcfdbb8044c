package infer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// span writes a length of time in milliseconds as people do: 200 ms, 1.5 s, 5 min, 2 h.
func span(ms float64) string {
	for _, unit := range [...]struct {
		from, size float64
		name       string
	}{{3.6e6, 3.6e6, "h"}, {120_000, 60_000, "min"}, {1000, 1000, "s"}, {0, 1, "ms"}} {
		if math.Abs(ms) >= unit.from {
			return strconv.FormatFloat(digits(ms/unit.size), 'f', -1, 64) + " " + unit.name
		}
	}
	return "0 ms"
}

// digits keeps three of them.
func digits(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// spanRange writes a range, with the unit once where both ends have the same.
func spanRange(low, high float64) string {
	a, b := span(low), span(high)
	number, unit, _ := strings.Cut(a, " ")
	switch {
	case a == b:
		return a
	case strings.HasSuffix(b, " "+unit):
		return number + " to " + b
	default:
		return a + " to " + b
	}
}

// listed joins words: a, b and c.
func listed(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// runs writes statuses in order, three and more in a row as a range.
func runs(answers []string) []string {
	var words []string
	for i := 0; i < len(answers); {
		j := i
		for j+1 < len(answers) && following(answers[j], answers[j+1]) {
			j++
		}
		if j-i >= 2 {
			words = append(words, answers[i]+"-"+answers[j])
			i = j + 1
			continue
		}
		words = append(words, answers[i])
		i++
	}
	return words
}

func following(a, b string) bool {
	x, errA := strconv.Atoi(a)
	y, errB := strconv.Atoi(b)
	return errA == nil && errB == nil && y == x+1
}

// names lists the answers with a verdict: statuses first, then network failures.
func (p *Policy) names(v Verdict) []string {
	var list []string
	for _, a := range p.Answers {
		if a.Verdict == v {
			list = append(list, a.Answer)
		}
	}
	return runs(list)
}

func (p *Policy) methodNames(v Verdict) []string {
	var list []string
	for _, m := range p.Methods {
		if m.Verdict == v {
			list = append(list, m.Method)
		}
	}
	slices.Sort(list)
	return list
}

func candidateNames(all []Candidate) string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.Name
		if c.Name == exponential.Name && c.Multiplier > 0 {
			words[i] += fmt.Sprintf(" x%v", c.Multiplier)
		}
	}
	if len(words) == 1 {
		return words[0] + " so far"
	}
	return listed(words, "or")
}
