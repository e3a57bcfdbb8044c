package assert

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Doc writes the contract as Markdown that both teams can read: what the client does after every answer, the agreed
// numbers in sentences, what is checked, and why each status is treated as it is.
func (c *Contract) Doc(w io.Writer) error {
	c = c.finished()
	var b strings.Builder
	title := strings.Join(strings.Fields(c.Name), " ")
	if title == "" {
		title = c.Profile
	}
	fmt.Fprintf(&b, "# Retry contract: %s\n\nWhat a client of this API does when a request fails", title)
	if c.Profile != "" && c.Profile != c.Name {
		fmt.Fprintf(&b, ", based on the profile `%s`", c.Profile)
	}
	if p, err := Profiles.Get(c.Profile); err == nil && p.AsOf != "" {
		fmt.Fprintf(&b, " (sources of the profile read in %s)", p.AsOf)
	}
	b.WriteString(". An attempt is each send; a retry is every attempt after the first.\n\n")
	c.docAnswers(&b)
	c.docNumbers(&b)
	c.docServer(&b)
	c.docClauses(&b)
	c.docReasons(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// docAnswers writes the table of answers, those that are treated alike in one row.
func (c *Contract) docAnswers(b *strings.Builder) {
	b.WriteString("## After each answer\n\n| Answer | The client |\n|---|---|\n| 2xx, whole | is done and sends nothing more |\n")
	var order []Response
	statuses := map[Response][]int{}
	for s := minStatus; s <= maxStatus; s++ {
		r := c.Responses.Status(s)
		if s < 300 && r == (Response{}) {
			continue // no failures, and the row above says what success is
		}
		if statuses[r] == nil {
			order = append(order, r)
		}
		statuses[r] = append(statuses[r], s)
	}
	for _, r := range order {
		text := describe(r)
		if r.Retry == Unspecified && len(statuses[r]) == 100 && statuses[r][0] == 300 {
			text = "follows it" + honours(r)
		}
		fmt.Fprintf(b, "| %s | %s |\n", ranges(statuses[r]), text)
	}
	for k, f := range networkFacts {
		fmt.Fprintf(b, "| %s | %s |\n", f.name, describe(c.Responses.Network(NetworkClass(k))))
	}
	b.WriteString("| the caller cancelled, or the call's time is over | sends nothing more |\n\n")
}

func describe(r Response) string { return behaviourTexts[r.Retry] + honours(r) }

func honours(r Response) string {
	if !r.Honour || r.Retry == Never {
		return ""
	}
	return ", not sooner than `Retry-After` says"
}

// docReasons lists the statuses that have a name, each with its reason and source.
func (c *Contract) docReasons(b *strings.Builder) {
	b.WriteString("## Why\n\n| Status | | The client | Because | Source |\n|---|---|---|---|---|\n")
	for _, f := range facts {
		if f.to-f.from > 10 { // a whole class has no single row in the table above
			continue
		}
		span := strconv.Itoa(f.from)
		if f.to > f.from {
			span += "-" + strconv.Itoa(f.to)
		}
		why, source := f.why, f.source
		if c.Responses.Status(f.from).Retry != StrictResponses().Status(f.from).Retry {
			why, source = "both teams agreed on it; otherwise: "+f.why, "this contract; "+f.source
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", span, f.name, describe(c.Responses.Status(f.from)), why, source)
	}
}

// docClauses lists what is checked.
func (c *Contract) docClauses(b *strings.Builder) {
	judges := c.Judges()
	if len(judges) == 0 {
		return
	}
	b.WriteString("## What is checked\n\n| Clause | Level | Promise |\n|---|---|---|\n")
	for _, j := range judges {
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", j.Kind.ID, j.Level, strings.TrimSuffix(j.Kind.Summary, "."))
	}
	b.WriteString("\n")
}

// ranges writes sorted statuses as people do: 400, 402-406, 410.
func ranges(statuses []int) string {
	var words []string
	for i := 0; i < len(statuses); {
		j := i
		for j+1 < len(statuses) && statuses[j+1] == statuses[j]+1 {
			j++
		}
		word := strconv.Itoa(statuses[i])
		switch {
		case j > i+1 && statuses[i]%100 == 0 && statuses[j]%100 == 99 && statuses[i]/100 == statuses[j]/100:
			word = strconv.Itoa(statuses[i]/100) + "xx"
		case j == i+1:
			word += ", " + strconv.Itoa(statuses[j])
		case j > i:
			word += "-" + strconv.Itoa(statuses[j])
		}
		words = append(words, word)
		i = j + 1
	}
	return strings.Join(words, ", ")
}

// spoken writes a length of time for people: 1 s, 1.5 s, 250 ms, 2 min.
func spoken(d time.Duration) string {
	switch {
	case d >= time.Hour && d%(30*time.Minute) == 0:
		return strconv.FormatFloat(d.Hours(), 'f', -1, 64) + " h"
	case d >= time.Minute && d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + " min"
	case d >= 2*time.Minute && d%(30*time.Second) == 0:
		return strconv.FormatFloat(d.Minutes(), 'f', -1, 64) + " min"
	case d >= time.Second:
		return strconv.FormatFloat(d.Round(10*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	default:
		return strconv.FormatFloat(float64(d.Round(time.Microsecond))/float64(time.Millisecond), 'f', -1, 64) + " ms"
	}
}
