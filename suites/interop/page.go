package interop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert"
)

// page is all that is known of one client.
func (r row) page() string {
	var s strings.Builder
	fmt.Fprintf(&s, "# %s, %s\n\n[Scoreboard](%s)\n\n", r.Title(), r.Result.Version, boardFile)
	fmt.Fprintf(&s, "By its source: %s.\n\nAfter 503: %s.\n\nRead:\n\n", r.Policy, r.Result.Policy)
	for _, source := range r.Sources {
		fmt.Fprintf(&s, "- %s\n", source)
	}
	s.WriteString("\n## On the wire\n\n| what it met for good | requests expected | seen | waits expected | seen |\n|---|---|---|---|---|\n")
	for _, seen := range r.Result.Seen {
		want := r.expected(seen.Case)
		fmt.Fprintf(&s, "| %s | %s | %s | %s | %s |\n", seen.Case, want.Requests, seen.count(), bounds(want.Gaps), waits(seen.Gaps))
	}
	if len(r.Result.Differences) > 0 {
		s.WriteString("\n## Unlike what was expected in this run\n\n- " + strings.Join(r.Result.Differences, "\n- ") + "\n")
	}
	if len(r.Findings) > 0 {
		s.WriteString("\n## Found out\n\n- " + strings.Join(r.Findings, "\n- ") + "\n")
	}
	if r.Result.Report == nil {
		fmt.Fprintf(&s, "\nThe contract does not judge it: %s.\n", r.Unjudged)
		return s.String()
	}
	s.WriteString("\n## The strict contract\n\n" + r.clauses() + "\n## Evidence\n\n" + r.evidence())
	return s.String()
}

// clauses has a row for each clause, those that are not kept first.
func (r row) clauses() string {
	order := []standing{broken, caller, undecided, kept, unseen}
	lines := map[standing][]string{}
	for _, j := range assert.Strict().Judges() {
		id := j.Kind.ID
		at, detail := r.standing(id)
		if how, ok := r.Contract.Caller[id]; ok && at == caller {
			detail += ". The caller's means: " + how
		}
		lines[at] = append(lines[at], fmt.Sprintf("| <a id=%q></a>%s | %v | %s |", id, id, at, strings.ReplaceAll(detail, "|", `\|`)))
	}
	var all []string
	for _, at := range order {
		all = append(all, lines[at]...)
	}
	return "| clause | | what was found |\n|---|---|---|\n" + strings.Join(all, "\n") + "\n"
}

// count is the number of requests, with what the transport did by itself.
func (s Seen) count() string {
	text := fmt.Sprint(s.Requests)
	if s.Resent > 0 {
		text += fmt.Sprintf(", %d of them sent again by the transport", s.Resent)
		if c, err := CaseOf(s.Case); err == nil && c.Method == "POST" {
			text += ", so that a POST may be carried out twice"
		}
	}
	if s.Stopped {
		text += ", then stopped"
	}
	return text
}

func bounds(all []Bound) string {
	var words []string
	for _, b := range all {
		words = append(words, b.String())
	}
	return few(words)
}

func waits(all []time.Duration) string {
	var words []string
	for _, d := range all {
		words = append(words, d.Round(time.Millisecond).String())
	}
	return few(words)
}

// mostWaits bounds how many waits are written out.
const mostWaits = 8

// few joins the first of words.
func few(words []string) string {
	if len(words) > mostWaits {
		words = append(slices.Clone(words[:mostWaits]), "…")
	}
	return strings.Join(words, ", ")
}
