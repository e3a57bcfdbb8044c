package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retrygate/retrygate/scenarios"
)

// need skips a test on machines without one of the programs that it runs.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, name := range programs {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("this machine has no %s", name)
		}
	}
}

// eventually waits until the condition holds, and fails the test when it does not within 20 s. It looks again and again
// because other processes come and go without an event that a test could wait for, and live in real time.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not after 20 s: %s", what)
		}
	}
}

// carriers returns the processes with a marker or a brand that begins so.
func carriers(t *testing.T, prefix, brands string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil || len(files) == 0 {
		t.Skip("this system does not show the environment of processes")
	}
	var found []string
	for _, file := range files {
		env, _ := os.ReadFile(file)
		for _, entry := range append(strings.Split(string(env), "\x00"), "") {
			if strings.HasPrefix(entry, prefix) || entry == "" && branded(filepath.Dir(file), brands) {
				command, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
				found = append(found, file+" "+strings.ReplaceAll(string(command), "\x00", " "))
				break
			}
		}
	}
	return found
}

// brands is what the brands of this harness begin with.
var brands = fmt.Sprint(newBrand(0))[:14]

// branded reports whether a living process carries a brand that begins so.
func branded(dir, brands string) bool {
	limits, _ := os.ReadFile(filepath.Join(dir, "limits"))
	status, _ := os.ReadFile(filepath.Join(dir, "status"))
	command, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	if strings.Contains(string(command), "sleep\x00600."+brands) { // what lost its brand must be noticed too
		return true
	}
	_, limit, ok := strings.Cut(string(limits), "Max realtime timeout")
	return ok && strings.HasPrefix(strings.TrimSpace(limit), brands) && !strings.Contains(string(status), "State:\tZ")
}

func nothingLeft(t *testing.T) {
	t.Helper()
	if left := carriers(t, markerName+harness+".", brands); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

var target = Target{URL: "http://127.0.0.1:1", Scenario: "s1", Number: 3}

func TestCommandIsToldWhereToGo(t *testing.T) {
	need(t, "sh")
	t.Setenv("NO_PROXY", "example.com")
	exit, out := runClient(t.Context(), Command("sh", "-c",
		`echo "$0 $1 $RETRYGATE_URL $RETRYGATE_SCENARIO $RETRYGATE_CLIENT $NO_PROXY"`, "{{url}}/a", "x{{url}}y{{url}}"), target)
	want := "http://127.0.0.1:1/a xhttp://127.0.0.1:1yhttp://127.0.0.1:1 http://127.0.0.1:1 s1 client-3 example.com,127.0.0.1,localhost,::1\n"
	if out.Stdout != want || exit.err() != nil {
		t.Errorf("%v\ngot  %s\nwant %s", exit, out, want)
	}
}

func TestArgvIsWhatWasGiven(t *testing.T) {
	if got := Argv(Command("curl", "{{url}}/a?b")); !slices.Equal(got, []string{"curl", "{{url}}/a?b"}) {
		t.Errorf("got %q", got)
	}
	if got := Argv(CommandShared("java", "Client")); !slices.Equal(got, []string{"java", "Client"}) {
		t.Errorf("got %q", got)
	}
	if got := Argv(once); got != nil {
		t.Errorf("a function has the command %q", got)
	}
}

func TestCommandEnds(t *testing.T) {
	need(t, "sh", "cat")
	for _, c := range []struct{ name, script, stdout, stderr, ends string }{
		{"well", "echo out; echo err >&2", "out\n", "err\n", "ended with exit code 0"},
		{"with a code", "exit 6", "", "", "ended with exit code 6"},
		{"by a signal", "kill -9 $$", "", "", "was ended by signal: killed"},
		{"with nothing on stdin", "cat; echo empty", "empty\n", "", "ended with exit code 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			exit, out := runClient(t.Context(), Command("sh", "-c", c.script), target)
			if exit.String() != c.ends || out.Stdout != c.stdout || out.Stderr != c.stderr {
				t.Errorf("%s, stdout %q, stderr %q", exit, out.Stdout, out.Stderr)
			}
		})
	}
}

func TestCommandRunReportsTheExit(t *testing.T) {
	need(t, "sh")
	if err := Command("sh", "-c", "exit 0").Run(t.Context(), target); err != nil {
		t.Error(err)
	}
	var e *ExitError
	if err := Command("sh", "-c", "exit 7").Run(t.Context(), target); !errors.As(err, &e) || e.Exit.Code != 7 {
		t.Errorf("got %v, want exit code 7", err)
	}
	var s *StartError
	if err := Command("no-such-program").Run(t.Context(), target); !errors.As(err, &s) {
		t.Errorf("got %v, want a StartError", err)
	}
}

func TestOnlyTheEndOfMuchOutputIsKept(t *testing.T) {
	need(t, "sh", "head", "tr")
	_, out := runClient(t.Context(), Command("sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x; echo end"), target)
	if !strings.HasPrefix(out.Stdout, fmt.Sprintf("[%d bytes before this were dropped]\nxxx", 1000004-keep)) || !strings.HasSuffix(out.Stdout, "xend\n") {
		t.Errorf("%d bytes: %.60s", len(out.Stdout), out.Stdout)
	}
}

// TestEverythingIsEnded starts commands that leave processes behind in every way there is, and stops those that do not
// end by themselves once they have said that they are ready.
func TestEverythingIsEnded(t *testing.T) {
	need(t, "sh", "sleep", "setsid", "mkfifo")
	for _, c := range []struct{ name, script, ends string }{
		{"alone", `echo > $READY; exec sleep 600`, "was ended by signal: terminated"},
		{"with children", `sleep 600 & sleep 600 & echo > $READY; wait`, "was ended by signal: terminated"},
		{"in the background", `sleep 600 & echo > $READY`, "ended with exit code 0"},
		{"out of the group", `setsid sleep 600 & setsid sh -c 'sleep 600; true' & echo > $READY`, "ended with exit code 0"},
		{"out of the group and of the environment", `env -i setsid sh -c 'sleep 600; true' & echo > $READY`, "ended with exit code 0"},
		{"a daemon without environment", `env -i setsid sh -c 'trap "" TERM HUP; sleep 600 & sleep 0.01' & echo > $READY`, "ended with exit code 0"},
		{"ever another", `env -i setsid sh -c 'f() { sleep 0.003; [ $1 -gt 900 ] || f $(($1 + 1)) & }; f 1' & echo > $READY`, "ended with exit code 0"},
		{"deaf to SIGTERM", `trap '' TERM; sleep 600 & echo > $READY; wait; sleep 600`, "was ended by signal: killed"},
		{"deaf in the background", `(trap '' TERM; echo > $READY; sleep 600) & wait`, "was ended by signal: terminated"},
		{"tidy", `trap 'exit 5' TERM; sleep 600 & echo > $READY; wait`, "ended with exit code 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ready := filepath.Join(t.TempDir(), "ready")
			t.Setenv("READY", ready)
			ctx, cancel := context.WithCancel(t.Context())
			type result struct {
				exit Exit
				took time.Duration
			}
			done := make(chan result)
			go func() {
				began := time.Now()
				exit, _ := runClient(ctx, Command("sh", "-c", strings.ReplaceAll(c.script, "sleep 600", "sleep 600."+brands)), target)
				done <- result{exit, time.Since(began)}
			}()
			eventually(t, "the client is ready", func() bool { _, err := os.Stat(ready); return err == nil })
			if !strings.HasPrefix(c.ends, "ended with exit code 0") {
				cancel()
			}
			r := <-done
			cancel()
			if r.exit.String() != c.ends {
				t.Errorf("it %s, want %s", r.exit, c.ends)
			}
			nothingLeft(t)
		})
	}
}

func TestCannotStart(t *testing.T) {
	need(t, "sh")
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	file := func(name string, mode fs.FileMode, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	file("myclient", 0o755, "#!/bin/sh\n")
	for _, c := range []struct {
		name string
		argv []string
		want string
	}{
		{"nothing", nil, "there is no command to run; write it after --, such as -- curl '{{url}}/'"},
		{"misspelt", []string{"mycleint"}, "no such command: mycleint; did you mean myclient?"},
		{"unlike anything", []string{"qqqqwwwweeee"}, "no such command: qqqqwwwweeee; is it installed"},
		{"empty", []string{"", "x"}, "cannot start '': the command's name is empty"},
		{"a command line", []string{"sh ./client.sh"}, "no such command: sh ./client.sh; the command and its arguments are one word here"},
		{"a path", []string{"./no/such"}, "no such command: ./no/such"},
		{"one word", []string{"curl -s {{url}}"}, "no such command: curl -s {{url}}; the command and its arguments are one word here"},
		{"not executable", []string{file("plain", 0o644, "")}, "cannot start " + dir + "/plain: permission denied; is it executable?"},
		{"a directory", []string{dir}, "cannot start " + dir + ": is a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Command(c.argv...).(checker).check()
			var s *StartError
			if !errors.As(err, &s) || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
	t.Run("an address that there is none of", func(t *testing.T) {
		err := Check(CommandShared("sh", "client.sh", "{{url}}"))
		if want := "cannot start sh: {{url}} stands in its arguments; a worker that clients share reads an address for each call on its standard input"; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
	t.Run("not a program", func(t *testing.T) {
		exit, _ := runClient(t.Context(), Command(file("broken", 0o755, "#!/no/such/shell\n")), target)
		var s *StartError
		if !errors.As(exit.Err, &s) {
			t.Errorf("got %v, want a StartError", exit.Err)
		}
		for _, shared := range []scenarios.Scenario{{Name: "s1", Clients: 3}, {Name: "s1", Cancel: &scenarios.Cancel{}}} {
			if _, err := Run(t.Context(), shared, CommandShared(file("broken", 0o755, "#!/no/such/shell\n")), Options{}); !errors.As(err, &s) {
				t.Errorf("shared: got %v, want a StartError", err)
			}
		}
		nothingLeft(t)
	})
}

// TestDaemonsBornAtOnceAreFound has commands that leave a daemon behind in their first instants, and nothing to know it by.
func TestDaemonsBornAtOnceAreFound(t *testing.T) {
	need(t, "sh", "env", "setsid", "sleep")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { runClient(t.Context(), Command("sh", "-c", "env -i setsid sleep 600."+brands+" &"), target) })
	}
	all.Wait()
	nothingLeft(t)
}
