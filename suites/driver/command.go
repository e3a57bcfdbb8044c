package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// placeholder stands for the server's address in a command's arguments.
const placeholder = "{{url}}"

// Command is a client that is a program in any language: one process for each client and scenario. {{url}} in any argument
// becomes the server's address (scheme://host:port); the environment has it as RETRYGATE_URL, next to RETRYGATE_SCENARIO
// and RETRYGATE_CLIENT, and under Options.CA what to trust. Standard input is empty. The client has ended when all that it started has: under Run of this
// package, processes that go on in the background are watched as long as they send requests, and then ended. Where nobody
// watches them, they are ended with the command itself. Where a scenario has the caller cancel, it gets SIGTERM.
func Command(argv ...string) Client { return &command{argv: argv} }

// CommandWorker is a client that is a program which is started once and makes one call for each line on its standard
// input. A line is the call's id, a space and the server's address: "client-1.17 http://127.0.0.1:40123". The next line may
// come before the call of the one before has ended: a worker that makes one call at a time lets lines wait, and is then
// judged as one that is slow. At the end of the input it ends, once its calls have. It should send the id with each attempt
// as X-Retrygate-Call, so that the calls can be told apart. Everything else is as with Command.
func CommandWorker(argv ...string) Client { return &command{argv: argv, lines: true} }

// CommandShared is CommandWorker with one process for all clients of a run, which is started before the first of them begins and
// ended after the last. It is for programs that take long to start. It gets a line for each call of each client, in which the
// address is that client's own, and must make calls side by side: none may wait for another's end. When a call has ended it
// prints the call's id on a line of its own ("client-1.17"), with a space and what went wrong behind it if something did, and
// flushes it. What else it prints is kept as its output. A client that is stopped loses its address, and the process goes on
// for the others; if that ends, so do the calls that go on. In a scenario in which the caller cancels, each client has a process of
// its own. {{url}} cannot stand in its arguments, and RETRYGATE_URL and RETRYGATE_CLIENT are not set.
func CommandShared(argv ...string) Client { return &command{argv: argv, lines: true, shared: true} }

// Shared reports whether client is a CommandShared.
func Shared(client Client) bool {
	c, ok := client.(*command)
	return ok && c.shared
}

type command struct {
	argv   []string
	lines  bool // it reads one for each call
	shared bool // by all clients of a run, and says when a call has ended
}

func (c *command) Name() string {
	if len(c.argv) == 0 {
		return "(no command)"
	}
	return filepath.Base(c.argv[0])
}

// Argv returns a command as it was given; nil for other clients.
func Argv(client Client) []string {
	if c, ok := client.(*command); ok {
		return slices.Clone(c.argv)
	}
	return nil
}

// StartError says that a command cannot be started.
type StartError struct {
	Command string
	Hint    string // what may help, as the end of a sentence; "" if nothing is known
	Err     error
}

func (e *StartError) Error() string {
	switch {
	case e.Command == "":
		return "there is no command to run" + e.Hint
	case errors.Is(e.Err, exec.ErrNotFound), errors.Is(e.Err, fs.ErrNotExist):
		return fmt.Sprintf("no such command: %s%s", e.Command, e.Hint)
	default:
		return fmt.Sprintf("cannot start %s: %v%s", e.Command, e.Err, e.Hint)
	}
}

// Unwrap returns the system's own error.
func (e *StartError) Unwrap() error { return e.Err }

func (c *command) check() error {
	if len(c.argv) > 0 && c.argv[0] == "" {
		return &StartError{Command: "''", Err: errors.New("the command's name is empty"), Hint: "; is a variable in it not set?"}
	}
	if len(c.argv) == 0 {
		return &StartError{Err: exec.ErrNotFound, Hint: "; write it after --, such as -- curl '" + placeholder + "/'"}
	}
	_, err := exec.LookPath(c.argv[0])
	if err == nil && c.shared && strings.Contains(strings.Join(c.argv, " "), placeholder) {
		return &StartError{Command: c.argv[0], Err: fmt.Errorf("%s stands in its arguments", placeholder),
			Hint: "; a worker that clients share reads an address for each call on its standard input"}
	}
	if err == nil {
		return nil
	}
	var known *exec.Error
	if errors.As(err, &known) {
		err = known.Err // the path is named already
	}
	return &StartError{Command: c.argv[0], Err: err, Hint: hint(c.argv[0], err)}
}

// hint says what may help against err.
func hint(name string, err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "; is it executable?"
	case errors.Is(err, exec.ErrDot):
		return "; write ./" + name + " if it is meant"
	case severalWords(name):
		return "; the command and its arguments are one word here: take away the quotes around all of it, or run it with sh -c"
	case strings.ContainsRune(name, filepath.Separator):
		return ""
	}
	if near := registry.Nearest(name, programs()); len(near) > 0 {
		return "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return "; is it installed, and is its name right?"
}

// severalWords reports whether name looks like a whole command line.
func severalWords(name string) bool {
	words := strings.Fields(name)
	if len(words) < 2 {
		return false
	}
	_, err := exec.LookPath(words[0])
	return err == nil || strings.Contains(name, placeholder)
}

// programs lists what the search path holds.
func programs() []string {
	seen := map[string]bool{}
	var names []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, _ := os.ReadDir(dir) // an unreadable directory has nothing to suggest
		for _, e := range entries {
			if !seen[e.Name()] {
				seen[e.Name()] = true
				names = append(names, e.Name())
			}
		}
	}
	return names
}

func (c *command) Run(ctx context.Context, t Target) error {
	if err := c.check(); err != nil {
		return err
	}
	exit, _ := c.run(ctx, t)
	return exit.err()
}

func (c *command) works() bool { return c.lines }

func (c *command) run(ctx context.Context, t Target) (Exit, Output) {
	return c.work(ctx, t, oneCall(t))
}

// work starts the command and, if it is a worker, gives it the calls of a shift.
func (c *command) work(ctx context.Context, t Target, s *shift) (Exit, Output) {
	// The kernel ends the process when the thread that started it ends, so this thread must live as long.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := start(c.expand(t), t, c.lines, nil)
	if err != nil {
		return Exit{Code: -1, Err: &StartError{Command: c.argv[0], Err: err}}, Output{}
	}
	if c.lines {
		s.free = nil // when a call of it ends is not known
		defer p.feed(ctx, t.URL, s)()
	}
	select {
	case <-p.exited:
	case <-ctx.Done():
	case <-t.cancel:
		p.signal(syscall.SIGTERM)
		t.cancelled()
		select {
		case <-p.exited:
		case <-ctx.Done():
		}
	}
	if ctx.Err() == nil && t.left != nil {
		p.linger(ctx, t.left)
	}
	p.end(patience(ctx)) // and what it left running in the background
	exit := p.exit()
	if c.lines {
		exit.Untaken = s.work.Number() - len(s.times())
	}
	return exit, p.output()
}

// expand puts the address into the arguments.
func (c *command) expand(t Target) []string {
	argv := []string{c.argv[0]}
	for _, a := range c.argv[1:] {
		argv = append(argv, strings.ReplaceAll(a, placeholder, t.URL))
	}
	return argv
}

// environment is the harness's own with what the client is told. Loopback addresses bypass any proxy, which would
// otherwise swallow the run.
func environment(t Target, marker string) []string {
	env := append(os.Environ(), "RETRYGATE_SCENARIO="+t.Scenario, marker)
	if t.URL != "" { // it is for one client
		env = append(env, "RETRYGATE_URL="+t.URL, "RETRYGATE_CLIENT="+t.Client())
	}
	env = append(env, t.trust.environment()...)
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		hosts := "127.0.0.1,localhost,::1"
		if old := os.Getenv(name); old != "" {
			hosts = old + "," + hosts
		}
		env = append(env, name+"="+hosts)
	}
	return env
}
