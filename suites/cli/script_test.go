package cli

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expectations in testdata and the lists in README.md")

// TestMain lets scripts run retrygate as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"retrygate": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			os.Exit(Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
		},
	})
}

// TestScripts runs testdata/*.txtar: each is a session at the command line, with the files it needs.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"serve": serving,
		},
	})
}

// exits runs a command and wants its exit code: exits 2 retrygate verify.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	code := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		code = exitText(err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// serving starts retrygate serve for the rest of the script, on free ports: serve [FLAG...]. $URL is where it serves, and
// with --control $CONTROL where it is driven.
func serving(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve [FLAG...]")
	}
	s, err := startServe(args...)
	ts.Check(err)
	ts.Defer(func() {
		exit, said := s.stop()
		ts.Logf("serve ended with exit code %d and said\n%s", exit, said)
	})
	ts.Setenv("URL", s.url)
	ts.Setenv("CONTROL", s.control)
}
