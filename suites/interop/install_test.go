package interop

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What was fetched is fetched anew once a lock, or a program that is compiled with it, has changed.
func TestFetchedAnew(t *testing.T) {
	dir := t.TempDir()
	l := Language{ID: "x", Dir: dir, Build: filepath.Join(dir, "build"), Locks: []string{"lock", "*.rs"}, Fetch: [][]string{{"cp", "../lock", "."}}}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("lock", "one 1.0")
	if why := l.Unfetched(); !strings.Contains(why, "no file *.rs") {
		t.Errorf("without a program: %q", why)
	}
	write("a.rs", "a")
	for _, change := range []string{"", "a.rs", "b.rs", "lock"} {
		if change != "" {
			write(change, "changed")
		}
		if l.Unfetched() == "" {
			t.Errorf("a change of %q is not seen", change)
		}
		if err := l.Install(t.Context()); err != nil || l.Unfetched() != "" {
			t.Errorf("after a change of %q: %v, %q", change, err, l.Unfetched())
		}
	}
}

// On a machine that has Go and nothing else, Go is judged, and each other language is left out with what it lacks.
func TestGoAlone(t *testing.T) {
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	dir, bin, all := t.TempDir(), t.TempDir(), languages(t)
	for _, l := range all {
		if l.ID == "go" {
			if !slices.Equal(l.Needs, []string{"go"}) {
				t.Errorf("%s needs %v", l.Name, l.Needs)
			}
			err = standIn(filepath.Join(dir, l.ID))
		} else {
			err = os.Symlink(l.Dir, filepath.Join(dir, l.ID))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(tool, filepath.Join(bin, "go")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	var out bytes.Buffer
	r := Runner{Dir: dir, Board: filepath.Join(dir, "board"), Out: &out}
	if ok, err := r.Run(t.Context()); !ok || err != nil {
		t.Errorf("%v, %v: %s", ok, err, &out)
	}
	board, err := os.ReadFile(filepath.Join(r.Board, boardFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		left := "- " + l.Name + ": the machine lacks " + strings.Join(l.Needs, " and ")
		if got := strings.Contains(string(board), left); got == (l.ID == "go") {
			t.Errorf("%q is in the scoreboard: %v\n%s", left, got, board)
		}
	}
	if !strings.Contains(out.String(), "Go: 0 clients") {
		t.Errorf("Go was not judged: %s", &out)
	}
}

// standIn is a folder of Go whose judge takes no time; the real one has tests of its own.
func standIn(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, languageFile), []byte("language: Go\nneeds: [go]\njudge: [go, version]\n"), 0o644)
}
