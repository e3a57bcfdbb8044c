package scenarios_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/scenarios"
)

var update = flag.Bool("update", false, "write the catalogue in README.md anew")

// catalogue is what README.md lists: a table, and below it why each scenario is there.
func catalogue() string {
	var b strings.Builder
	b.WriteString("| scenario | what happens | clients |\n|---|---|---|\n")
	for _, s := range scenarios.All() {
		fmt.Fprintf(&b, "| [%s](%s.yaml) | %s | %d |\n", s.Name, s.Name, s.Summary, s.Clients)
	}
	for _, s := range scenarios.All() {
		fmt.Fprintf(&b, "\n**%s.** %s\nJudges %s.\n", s.Name, s.Why, "`"+strings.Join(s.Judges, "` `")+"`")
	}
	return b.String()
}

func TestReadmeListsEveryScenario(t *testing.T) {
	const file, begin, end = "README.md", "-update -->\n", "<!-- end of catalogue -->"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	listed, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("README.md has lost the marks around its catalogue")
	}
	if listed == catalogue() {
		return
	}
	if !*update {
		t.Fatal("README.md does not list what ships; run go test ./scenarios -update")
	}
	if err := os.WriteFile(file, []byte(before+begin+catalogue()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestReadmeExampleLoads reads the scenario that README.md shows.
func TestReadmeExampleLoads(t *testing.T) {
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	if s, err := scenarios.Load("README.md", []byte(example)); !ok || err != nil || s.Name != "maintenance" {
		t.Errorf("the example reads as %q: %v", s.Name, err)
	}
}
