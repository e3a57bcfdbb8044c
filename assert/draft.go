package assert

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// draft is a contract in the making.
type draft struct {
	name    string
	policy  infer.Policy
	backoff []setting
	dropped map[string]bool   // settings that were taken out, as in backoff.jitter
	off     map[string]string // clauses that are off, and why
}

// setting is one field of the section backoff.
type setting struct{ field, value string }

func newDraft(name string, p infer.Policy) *draft {
	d := &draft{name: name, policy: p, dropped: map[string]bool{}, off: map[string]string{}}
	d.backoff = backoffSettings(p)
	return d
}

// fields lists the settings that are written, unless they were dropped.
func (d *draft) fields() []string {
	fields := []string{"attempts.max", "attempts.within"}
	for _, s := range d.backoff {
		fields = append(fields, "backoff."+s.field)
	}
	return fields
}

// text writes the file.
func (d *draft) text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# What was seen of a client's retries, in %s. Nobody has agreed on it yet: read it,\n", counted(d.policy.Calls, "call", "calls"))
	b.WriteString("# change what should be otherwise, and sign it. The client that was watched keeps it as it is.\n#\n")
	for _, line := range fold("The client "+d.policy.Sentence()+".", 96) {
		b.WriteString("#   " + line + "\n")
	}
	fmt.Fprintf(&b, "name: %s\nprofile: strict\n\n", d.name)
	d.responses(&b)
	d.attempts(&b)
	d.waits(&b)
	d.retryAfter(&b)
	b.WriteString("\n# Limits on what the server sees of one client are for both teams to agree on.\nlimits: {client-rate: []}\n")
	if len(d.off) > 0 {
		b.WriteString("\n# Off, because the calls do not show that the client keeps them.\nclauses:\n")
		for _, id := range slices.Sorted(maps.Keys(d.off)) {
			fmt.Fprintf(&b, "  %s: off   # %s\n", id, d.off[id])
		}
	}
	return []byte(b.String())
}

// responses writes a row for each answer that was met; the others are left open.
func (d *draft) responses(b *strings.Builder) {
	b.WriteString("# What was not met is left open.\nresponses:\n  400-599: {retry: unspecified, retry-after: ignore}\n  network: unspecified\n")
	for _, a := range d.policy.Answers {
		if a.Answer == "open" {
			continue
		}
		word, seen := "unspecified", fmt.Sprintf("tried again %d of %d times", a.Retried, a.Met)
		switch {
		case a.Refreshed > 0:
			word = "once-after-refresh"
		case a.Verdict == infer.Retried:
			word = "backoff"
		case a.Verdict == infer.NotRetried:
			word = "never"
		case a.Verdict == infer.Once:
			word = "once"
		case a.Verdict == infer.WithRetryAfter:
			word = "with-retry-after"
		}
		if a.Network || word == "never" || word == "unspecified" {
			fmt.Fprintf(b, "  %s: %s   # %s\n", a.Answer, word, seen)
			continue
		}
		fmt.Fprintf(b, "  %s: {retry: %s, retry-after: %s}   # %s\n", a.Answer, word, d.heed(a), seen)
	}
}

// heed is whether a Retry-After with this answer was kept.
func (d *draft) heed(a infer.Answer) string {
	r := d.policy.RetryAfter
	kept := r.Verdict == infer.HeedKept || r.Verdict == infer.HeedCapped
	if kept && a.Told > 0 && !slices.Contains(r.Ignored, a.Answer) {
		return "honour"
	}
	return "ignore"
}

func (d *draft) attempts(b *strings.Builder) {
	a := d.policy.Attempts
	most, within, seen := unlimited, unlimited, fmt.Sprintf("%d at most were seen; no end was", a.Seen)
	if a.Max > 0 && a.Decided && !d.dropped["attempts.max"] {
		most, seen = fmt.Sprint(a.Max), fmt.Sprintf("seen of %s", counted(a.Ended, "call", "calls"))
	}
	if a.Within != nil && !d.dropped["attempts.within"] {
		within, seen = roundUp(a.Within.High*1.05), fmt.Sprintf("calls ended behind %s", lengthOf(a.Within.Low))
	}
	fmt.Fprintf(b, "\nattempts: {max: %s, within: %s}   # %s\n", most, within, seen)
}

func (d *draft) waits(b *strings.Builder) {
	var fields []string
	for _, s := range d.backoff {
		if !d.dropped["backoff."+s.field] {
			fields = append(fields, s.field+": "+s.value)
		}
	}
	grows := func(s setting) bool {
		return (s.field == "multiplier" || s.field == "schedule") && !d.dropped["backoff."+s.field]
	}
	if d.off["backoff-growth"] == "" && !slices.ContainsFunc(d.backoff, grows) {
		fields = append(fields, "growth: 1")
	}
	for _, s := range [...]setting{{"max", "0s"}, {"jitter", "unspecified"}} { // so that the profile's word is not the client's
		if !slices.ContainsFunc(fields, func(f string) bool { return strings.HasPrefix(f, s.field+":") }) {
			fields = append(fields, s.field+": "+s.value)
		}
	}
	fmt.Fprintf(b, "\nbackoff: {%s}\n", strings.Join(fields, ", "))
	for _, open := range d.policy.Open() {
		for i, line := range fold("open: "+open, 110) {
			fmt.Fprintf(b, "%s%s\n", [...]string{"# ", "#   "}[min(i, 1)], line)
		}
	}
}

func (d *draft) retryAfter(b *strings.Builder) {
	switch r := d.policy.RetryAfter; {
	case r.Verdict == infer.HeedCapped:
		fmt.Fprintf(b, "\nretry-after: {max: %s, longer: wait-max}\n", lengthOf(r.Cap.Low))
	case r.Verdict == infer.HeedKept && r.GivesUp != nil:
		fmt.Fprintf(b, "\nretry-after: {max: %s, longer: give-up}   # gave up when asked for %s\n", lengthOf(math.Max(r.KeptUpTo, 1000)), lengthOf(r.GivesUp.High))
	case r.Verdict == infer.HeedKept:
		fmt.Fprintf(b, "\nretry-after: {max: %s, longer: either}   # the longest that was asked for\n", lengthOf(r.KeptUpTo))
	default:
		b.WriteString("\nretry-after: {max: unlimited}\n")
	}
}

// lengthOf writes milliseconds as a duration in a file, to the millisecond.
func lengthOf(ms float64) string {
	return strict.FormatDuration(time.Duration(math.Round(ms)) * time.Millisecond)
}

// roundUp writes milliseconds with two digits, rounded up.
func roundUp(ms float64) string {
	if ms <= 0 {
		return "0s"
	}
	unit := math.Pow(10, math.Floor(math.Log10(ms))-1)
	return lengthOf(math.Ceil(ms/unit-1e-9) * unit)
}

// fold breaks text between words into lines of about so many columns.
func fold(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
