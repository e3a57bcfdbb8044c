package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/retrygate/retrygate/suites/interop"
)

const (
	root   = "../.."
	readme = root + "/README.md"
)

var listMarker = regexp.MustCompile(`(?s)(<!-- list: (\w+) -->\n).*?(<!-- end -->)`)

// TestREADMELists fails when a list in the README is not what retrygate list prints.
func TestREADMELists(t *testing.T) {
	old, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	lists := 0
	renewed := listMarker.ReplaceAllFunc(old, func(block []byte) []byte {
		m := listMarker.FindSubmatch(block)
		for _, c := range catalogues {
			if c.name == string(m[2]) {
				lists++
				return []byte(string(m[1]) + table(c) + string(m[3]))
			}
		}
		t.Errorf("README has a list of %s, which nothing is called", m[2])
		return block
	})
	if lists < 4 {
		t.Errorf("README has %d lists, want clauses, scenarios, faults and schedules", lists)
	}
	if bytes.Equal(old, renewed) {
		return
	}
	if !*update {
		t.Fatal("the lists in README.md have drifted; run go test ./suites/cli -run README -update")
	}
	if err := os.WriteFile(readme, renewed, 0o644); err != nil {
		t.Fatal(err)
	}
}

func table(c catalogue) string {
	var b strings.Builder
	items := c.items()
	more := ""
	switch {
	case len(items) > 0 && items[0].Level != "":
		more = "level"
	case len(items) > 0 && items[0].AsOf != "":
		more = "as of"
	}
	fmt.Fprintf(&b, "| %s | ", c.item)
	if more != "" {
		b.WriteString(more + " | ")
	}
	b.WriteString("what it is |\n|---|---|")
	if more != "" {
		b.WriteString("---|")
	}
	b.WriteString("\n")
	for _, x := range items {
		fmt.Fprintf(&b, "| `%s` | ", x.Name)
		if more != "" {
			b.WriteString(x.more() + " | ")
		}
		b.WriteString(strings.ReplaceAll(x.Summary, "|", `\|`) + " |\n")
	}
	return b.String()
}

// example is a code block of the README with what its marker asks for.
type example struct {
	line           int
	verb, argument string
	code           string
}

var (
	fence  = regexp.MustCompile("(?m)^```")
	marked = regexp.MustCompile("(?ms)^<!-- test: (\\w+)(?: ([^\n]*?))? -->\n```\\w+\n(.*?)^```$")
)

func examples(t *testing.T) (all []example) {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range marked.FindAllSubmatchIndex(text, -1) {
		x := example{line: 1 + bytes.Count(text[:m[0]], []byte("\n")), verb: string(text[m[2]:m[3]]), code: string(text[m[6]:m[7]])}
		if m[4] >= 0 {
			x.argument = string(text[m[4]:m[5]])
		}
		all = append(all, x)
	}
	// The picture of the tree is the only block that is no example.
	if blocks := len(fence.FindAll(text, -1)) / 2; len(all) != blocks-1 {
		t.Errorf("README has %d code blocks, of which %d are marked for this test; mark all but the tree", blocks, len(all))
	}
	return all
}

// TestREADMEExamples runs what the README shows: files are written, shell lines run, Go code compiled, sample clients judged.
func TestREADMEExamples(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 is not installed")
	}
	dir := t.TempDir()
	for _, x := range examples(t) {
		t.Run(fmt.Sprintf("line %d", x.line), func(t *testing.T) {
			switch x.verb {
			case "file":
				write(t, filepath.Join(dir, x.argument), x.code)
			case "exit":
				shell(t, dir, x.argument, x.code)
			case "go":
				compile(t, x.code)
			case "drives":
				drives(t, x)
			case "excerpt":
				excerpt(t, x)
			case "sample":
				sample(t, x)
			case "shown": // runs for minutes, until Ctrl-C, or not here: its flags must at least exist
				parses(t, x.code)
			default:
				t.Errorf("unknown marker %q", x.verb)
			}
		})
	}
}

// write makes a file that later examples use. The plan is read here, since no example ends that serves it.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if filepath.Base(file) == "plan.yaml" {
		if _, _, err := (&world{ctx: t.Context()}).loadPlan(serveFlags{plan: file}); err != nil {
			t.Error(err)
		}
	}
}

// commands are the lines after a prompt, without their comments.
func commands(code string) (lines []string) {
	for line := range strings.Lines(code) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			c, _, _ = strings.Cut(c, " # ")
			lines = append(lines, strings.TrimSpace(c))
		}
	}
	return lines
}

// shell runs the commands and wants the exit code of each, and the output that is shown, but for lines with numbers, which
// are different every time; not those that name a breach.
func shell(t *testing.T, dir, exit, code string, env ...string) {
	t.Helper()
	var printed strings.Builder
	for _, line := range commands(code) {
		cmd := exec.Command("sh", "-c", line)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if got := exitText(err); got != exit {
			t.Errorf("%s\nexit code %s, want %s\n%s%s", line, got, exit, out, stderr.String())
		}
		printed.Write(out)
	}
	for line := range strings.Lines(code) {
		varies := strings.ContainsAny(line, "0123456789") && !strings.HasPrefix(line, "FAIL ")
		if !strings.HasPrefix(line, "$ ") && !varies && !strings.Contains(printed.String(), line) {
			t.Errorf("the README shows %q, but it was not printed:\n%s", line, printed.String())
		}
	}
}

// drives hands the code to an interpreter, with a retrygate serve in the place of the one that the README starts.
func drives(t *testing.T, x example) {
	t.Helper()
	interpreter := strings.Fields(x.argument)
	if _, err := exec.LookPath(interpreter[0]); err != nil {
		t.Skip(interpreter[0] + " is not installed")
	}
	s := serve(t, "--control", "127.0.0.1:0")
	code := strings.NewReplacer("http://127.0.0.1:8080", s.url, "http://127.0.0.1:8081", s.control).Replace(x.code)
	cmd := exec.Command(interpreter[0], interpreter[1:]...)
	cmd.Stdin = strings.NewReader(code)
	if out, err := cmd.CombinedOutput(); err != nil {
		_, said := s.stop()
		t.Errorf("%v\n%s\n%s", err, out, said)
	}
	if s.control == "" || !strings.Contains(x.code, "http://127.0.0.1:8081") {
		t.Errorf("it drives nothing: %s", x.code)
	}
}

// excerpt wants the code to be part of a file as it stands.
func excerpt(t *testing.T, x example) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, x.argument))
	if err != nil || !strings.Contains(string(text), x.code) {
		t.Errorf("%s does not hold what the README shows of it (%v)", x.argument, err)
	}
}

// sample runs the commands in a copy of a language's sample clients, with the libraries that real clients are judged with.
func sample(t *testing.T, x example) {
	t.Parallel() // they are asleep most of the time
	language, exit, _ := strings.Cut(x.argument, " ")
	l, err := interop.ReadLanguage(filepath.Join(root, "suites/interop", language))
	if err != nil {
		t.Fatal(err)
	}
	if why := l.Missing() + l.Unfetched(); why != "" {
		t.Skip(why)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "suites/samples", language))); err != nil {
		t.Fatal(err)
	}
	pinnedAlike(t, l, dir)
	for _, libraries := range []string{"node_modules", "lib"} { // where Node and Java are told to look, beside the programs
		beside := filepath.Join(dir, libraries) // perhaps there already, from who followed the README
		if err := errors.Join(os.RemoveAll(beside), os.Symlink(filepath.Join(l.Build, libraries), beside)); err != nil {
			t.Fatal(err)
		}
	}
	shell(t, dir, exit, x.code, "PATH="+filepath.Join(l.Build, "bin")+":"+os.Getenv("PATH"))
}

// pinnedAlike wants the sample clients to pin what is installed.
func pinnedAlike(t *testing.T, l interop.Language, dir string) {
	t.Helper()
	compared := 0
	for _, name := range l.Locks {
		ours, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue // samples lock only what they use themselves
		}
		theirs, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			t.Error(err)
		}
		for _, p := range pins(ours) {
			compared++
			if !slices.Contains(pins(theirs), p) {
				t.Errorf("%s of the samples pins %s, and that of the real clients does not", name, p)
			}
		}
	}
	if compared == 0 {
		t.Error("the samples pin nothing")
	}
}

var pin = regexp.MustCompile(`(?s:<dependency>.*?</dependency>)|(?m:^[a-z-]+==\S+)|"[a-z-]+": "[0-9.]+"`)

// pins lists the packages of a lock with their versions: those of Maven, pip and npm.
func pins(lock []byte) (all []string) {
	for _, p := range pin.FindAllString(string(lock), -1) {
		all = append(all, strings.Join(strings.Fields(p), " "))
	}
	return all
}

// parses checks that each retrygate command line parses: with --help after its flags nothing runs.
func parses(t *testing.T, code string) {
	t.Helper()
	for _, line := range commands(code) {
		line, _, _ = strings.Cut(line, " -- ")
		if !strings.HasPrefix(line, "retrygate ") {
			continue
		}
		if out, err := exec.Command("sh", "-c", line+" --help").CombinedOutput(); err != nil {
			t.Errorf("%s\n%v\n%s", line, err, out)
		}
	}
}

// compile builds a Go example as a package of this module, without writing it into the tree.
func compile(t *testing.T, code string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "example.go")
	if err := os.WriteFile(file, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	home, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(home, "suites/readme/example.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", list, "./suites/readme")
	cmd.Dir = home
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// exitText is a process's exit code, or why it has none.
func exitText(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return "0"
	case errors.As(err, &exit):
		return strconv.Itoa(exit.ExitCode())
	default:
		return err.Error()
	}
}
