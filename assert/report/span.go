package report

import (
	"fmt"
	"strings"
	"time"
)

// Span writes a duration of ms milliseconds as a reader wants it: 0.4 ms, 12 ms, 1.00 s, 2m05s.
func Span(ms float64) string {
	sign := ""
	if ms < 0 {
		sign, ms = "-", -ms
	}
	switch {
	case ms < 0.05:
		return "0 ms"
	case ms < 9.95:
		return sign + fmt.Sprintf("%.1f ms", ms)
	case ms < 999.5:
		return sign + fmt.Sprintf("%.0f ms", ms)
	case ms < 9_995:
		return sign + fmt.Sprintf("%.2f s", ms/1000)
	case ms < 59_950:
		return sign + fmt.Sprintf("%.1f s", ms/1000)
	default:
		d := time.Duration(ms * float64(time.Millisecond)).Round(time.Second)
		return sign + clock(d)
	}
}

// spans writes a range, with the unit once if both ends have the same.
func spans(from, to float64) string {
	a, b := Span(from), Span(to)
	number, unit, _ := strings.Cut(a, " ")
	if a == b {
		return a
	}
	if unit != "" && strings.HasSuffix(b, " "+unit) {
		return number + "-" + b
	}
	return a + " to " + b
}

// clock writes whole seconds as 2m05s or 1h02m05s, and from two days on in days and hours: 4d02h.
func clock(d time.Duration) string {
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case h >= 48:
		return fmt.Sprintf("%dd%02dh", h/24, h%24)
	case h > 0:
		return fmt.Sprintf("%dh%02dm%02ds", h, m, s)
	default:
		return fmt.Sprintf("%dm%02ds", m, s)
	}
}

// Quote writes argv as a shell would need it, so that it can be pasted.
func Quote(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = a
		if a == "" || strings.ContainsFunc(a, special) {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func special(r rune) bool {
	ordinary := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-", r)
	return !ordinary
}
