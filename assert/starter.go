package assert

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed starter.yaml
var starter []byte

// Init is a first contract to edit: every section, with comments that say what it means.
func Init() []byte { return slices.Clone(starter) }

// InitFrom is a first contract based on a profile: what it says holds as it is, and every section stands there commented
// out, to be changed. The error names the nearest profiles.
func InitFrom(profile string) ([]byte, error) {
	p, err := Profiles.Get(profile)
	if err != nil {
		return nil, err
	}
	if p.Name == strictName {
		return Init(), nil
	}
	head, rest, _ := strings.Cut(string(starter), "profile: "+strictName+"\n")
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(head, "from this profile.", "from this profile: retrygate explain "+p.Name+" shows it."))
	b.WriteString("profile: " + p.Name + "\n")
	for line := range strings.Lines(rest) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "#") {
			b.WriteString("#")
		}
		b.WriteString(line)
	}
	return []byte(b.String()), nil
}
