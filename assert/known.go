package assert

import (
	"fmt"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// Breach is a broken clause that a team knows of and accepts for a while, so that a build can gate on nothing new.
type Breach struct {
	Clause   string    `yaml:"clause" doc:"id of the clause that is broken"`
	Client   string    `yaml:"client" doc:"the client's name, as reports give it; * stands for any text"`
	Scenario string    `yaml:"scenario" doc:"where it is broken; default anywhere"`
	Reason   string    `yaml:"reason" doc:"why it is accepted: for those who read the report"`
	Expires  untilDate `yaml:"expires" doc:"the last day that it is accepted, as in 2027-01-31"`

	place strict.Pos
}

// Known is a file of accepted breaches, in its order.
type Known []Breach

// LoadKnown reads a list of accepted breaches. The error names file, line and column of every mistake.
func LoadKnown(file string, data []byte) (Known, error) {
	var k Known
	if err := strict.Decode(file, data, &k); err != nil {
		return nil, err
	}
	return k, nil
}

// KnownSchema is the JSON Schema of such files.
func KnownSchema() map[string]any { return strict.Schema(Known{}) }

// Validate finds lines that accept what another one accepts already: with different last days nobody would know which holds.
func (k *Known) Validate(n strict.Node) {
	first := map[Breach]string{}
	for i, line := range n.Seq() {
		b := (*k)[i]
		key := Breach{Clause: b.Clause, Client: b.Client, Scenario: b.Scenario}
		if before, ok := first[key]; ok {
			line.Fail("%s of %s is accepted already (%s)", b.Clause, b.Client, before)
			continue
		}
		first[key] = b.Place()
	}
}

// Validate checks what the types alone do not say.
func (b *Breach) Validate(n strict.Node) {
	b.place = n.Pos()
	for name, value := range map[string]string{"clause": b.Clause, "client": b.Client, "reason": b.Reason, "expires": b.Expires.day} {
		if f, ok := n.Field(name); strings.TrimSpace(value) == "" && (!ok || f.Kind() == strict.Text) {
			n.At(name).Fail("%s: is needed, so that everybody knows what is accepted, of whom, why and how long", name)
		}
	}
	if _, err := Kinds.Get(b.Clause); b.Clause != "" && err != nil {
		n.At("clause").Fail("%v", err)
	}
}

// Place says where the line stands: "known.yaml:3".
func (b Breach) Place() string { return fmt.Sprintf("%s:%d", b.place.File, b.place.Line) }

// Until is the last day on which the breach is accepted: 2027-01-31.
func (b Breach) Until() string { return b.Expires.day }

// Expired reports whether the last day is over, wherever on earth it ends latest.
func (b Breach) Expired(now time.Time) bool { return now.After(b.Expires.end) }

// About reports whether the line speaks of this clause of this client in this scenario.
func (b Breach) About(client, scenario, clause string) bool {
	return b.Clause == clause && (b.Scenario == "" || b.Scenario == scenario) && alikeName(b.Client, client)
}

// Accepts finds the line that accepts a breach today; expired lines accept nothing.
func (k Known) Accepts(client, scenario, clause string, now time.Time) (Breach, bool) {
	for _, b := range k {
		if b.About(client, scenario, clause) && !b.Expired(now) {
			return b, true
		}
	}
	return Breach{}, false
}

// alikeName compares a name with a pattern in which * stands for any text.
func alikeName(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, behind, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = behind
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// untilDate is a day, to its end.
type untilDate struct {
	day string
	end time.Time
}

// UnmarshalText reads 2027-01-31.
func (u *untilDate) UnmarshalText(text []byte) error {
	day, err := time.Parse(time.DateOnly, string(text))
	if err != nil {
		return fmt.Errorf("%q is no day; write it as in 2027-01-31", text)
	}
	// The day is over last in the time zone twelve hours behind UTC.
	u.day, u.end = string(text), day.AddDate(0, 0, 1).Add(12*time.Hour)
	return nil
}

// JSONSchema describes a day.
func (untilDate) JSONSchema() map[string]any {
	return part{"type": "string", "pattern": `^\d{4}-\d{2}-\d{2}$`, "examples": []string{"2027-01-31"}}
}
