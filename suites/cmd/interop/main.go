// Command interop installs real clients, judges them and writes the scoreboard. It is run at the top of the source tree.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/retrygate/retrygate/suites/interop"
)

func main() { os.Exit(run()) }

// run returns the exit code: 0 if all clients did what is expected of them, 1 if some did not, 2 if nothing could be said.
func run() int {
	only := flag.String("only", "", "run these languages, with commas between (default: all)")
	fetch := flag.Bool("fetch", false, "install packages, and run nothing")
	board := flag.String("board", "suites/interop/build/scoreboard", "folder that gets the scoreboard")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := interop.Runner{Dir: "suites/interop", Fetch: *fetch, Board: *board, Out: os.Stdout}
	if *only != "" {
		r.Only = strings.Split(*only, ",")
	}
	ok, err := r.Run(ctx)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "interop:", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}
