// Package suites_test holds the rules of the house: what stands at the top level, and which way imports point.
package suites_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/retrygate/retrygate"

// A new entry here is a new room in the house: agree on it first.
var topLevel = []string{
	".ci", ".git", ".github", ".gitignore", ".golangci.yml", "LICENSE", "Makefile", "README.md",
	"assert", "faultserver", "go.mod", "go.sum", "scenarios", "suites",
	"bin", "coverage.out", // made by make, ignored by git
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(topLevel, e.Name()) {
			t.Errorf("%s does not belong at the top level, which holds %s", e.Name(), strings.Join(topLevel, " "))
		}
	}
}

func TestImportsPointOneWay(t *testing.T) {
	files := 0
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && d.Name() != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		files++
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
		for _, spec := range parsed.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if why := forbidden(name, imported); why != "" {
				t.Errorf("%s imports %s: %s", name, imported, why)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 50 {
		t.Errorf("only %d files were looked at", files)
	}
}

// forbidden says why file may not import a package, "" if it may. .golangci.yml holds the same rules.
func forbidden(file, imported string) string {
	room, _, _ := strings.Cut(file, "/")
	own, ours := strings.CutPrefix(imported, module+"/")
	test := strings.HasSuffix(file, "_test.go")
	switch {
	case room != "suites" && strings.HasPrefix(imported, "github.com/onsi/"):
		return "Ginkgo and Gomega stay under suites"
	case !test && (imported == "testing" || imported == "net/http/httptest"):
		return "test helpers stay out of the product"
	case path.Dir(file) == "faultserver/clock" && !test && strings.Contains(imported, "."):
		return "the clock is a leaf on the standard library"
	case path.Dir(file) == "faultserver/journal" && !test && own != "faultserver/clock" && (strings.Contains(imported, ".") || imported == "net/http"):
		return "the journal is a leaf on the clock and the standard library, without net/http"
	case ours && !slices.ContainsFunc(reach[room], func(p string) bool { return own == p || strings.HasPrefix(own, p+"/") }):
		return room + " may import " + strings.Join(reach[room], ", ") + " only"
	default:
		return ""
	}
}

// reach lists what each room may import of the module.
var reach = map[string][]string{
	"faultserver": {"faultserver"},
	"scenarios":   {"scenarios", "faultserver"},
	"assert":      {"assert", "faultserver/clock", "faultserver/journal", "faultserver/registry", "faultserver/strict"},
	"suites":      {"suites", "scenarios", "assert", "faultserver"},
}

func TestForbidden(t *testing.T) {
	rows := []struct {
		file, imported string
		allowed        bool
	}{
		{"suites/cli/root.go", "github.com/onsi/ginkgo/v2", true},
		{"assert/clause.go", "github.com/onsi/gomega", false},
		{"assert/clause_test.go", "github.com/onsi/gomega", false},
		{"assert/clause_test.go", "testing", true},
		{"faultserver/server.go", "testing", false},
		{"faultserver/server.go", "testing/synctest", true},
		{"faultserver/server.go", "net/http/httptest", false},
		{"faultserver/server.go", module + "/assert", false},
		{"scenarios/scenarios.go", module + "/faultserver/fault", true},
		{"scenarios/scenarios.go", module + "/assert", false},
		{"assert/call.go", module + "/faultserver/journal", true},
		{"assert/call.go", module + "/faultserver/journalists", false},
		{"assert/call.go", module + "/faultserver", false},
		{"assert/call.go", module + "/faultserver/fault", false},
		{"faultserver/journal/entry.go", "net/http", false},
		{"faultserver/journal/entry.go", "golang.org/x/sync/errgroup", false},
		{"faultserver/journal/entry.go", "encoding/json", true},
		{"faultserver/journal/journal.go", module + "/faultserver/clock", true},
		{"faultserver/journal/journal.go", module + "/faultserver/fault", false},
		{"faultserver/clock/clock.go", module + "/faultserver/journal", false},
		{"faultserver/journal/entry_test.go", "net/http", true},
		{"suites/cli/serve.go", module + "/faultserver", true},
	}
	for _, row := range rows {
		if why := forbidden(row.file, row.imported); (why == "") != row.allowed {
			t.Errorf("%s importing %s: allowed should be %v; %s", row.file, row.imported, row.allowed, why)
		}
	}
}
