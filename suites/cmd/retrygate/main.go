// Command retrygate proves, before production does, that HTTP clients keep their retry contract.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/retrygate/retrygate/suites/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ()))
}
