// Package cli is the command line: one file a subcommand. It takes the world as arguments and returns the exit code, so
// that tests can run it as users do.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/retrygate/retrygate/assert/report"
)

// Exit codes beyond those of a report.
const exitInterrupted = 130

// Main runs retrygate with args (without the program's name) and returns its exit code: 0 kept, 1 broken, 2 wrong usage
// or own error, 3 inconclusive, 130 when ctx ended before the work did. env holds "KEY=value" strings.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, env []string) int {
	out := &output{to: stdout}
	w := &world{ctx: ctx, stdin: stdin, stdout: out, stderr: stderr, env: env}
	root := newRoot(w)
	root.SetArgs(args)
	root.SetIn(stdin)
	err := root.ExecuteContext(ctx)
	if out.err != nil && !errors.Is(err, out.err) {
		err = errors.Join(err, out.err)
	}
	var code exitCode
	switch {
	case err == nil:
		return report.ExitKept
	case errors.As(err, &code) && out.err == nil:
		return int(code)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "retrygate: interrupted")
		return exitInterrupted
	}
	for line := range strings.Lines(strings.TrimSpace(usage(root, err).Error()) + "\n") {
		fmt.Fprint(stderr, "retrygate: ", report.Clean(strings.TrimSuffix(line, "\n")), "\n")
	}
	return report.ExitTrouble
}

// exitCode ends the program without a further message.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

// world is everything outside that a subcommand may touch.
type world struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
	env            []string
	color          colorMode
}

// getenv returns the last value of key, "" if it is not set.
func (w *world) getenv(key string) (value string) {
	for _, kv := range w.env {
		if v, ok := strings.CutPrefix(kv, key+"="); ok {
			value = v
		}
	}
	return value
}
