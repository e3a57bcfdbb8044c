package interop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/suites/driver"
)

// atOnce is how many clients that are commands are judged side by side: their processes must not starve each other.
const atOnce = 4

// Runner runs languages and writes the scoreboard.
type Runner struct {
	Dir   string   // the folder of languages
	Only  []string // ids of those to run; none: all
	Fetch bool     // install what is pinned, and run nothing
	Board string   // folder that gets the scoreboard
	Out   io.Writer

	mu     sync.Mutex
	failed bool
}

// Run installs and runs what it can, and reports whether every client did what is expected of it. An error means that the
// scoreboard was not written.
func (r *Runner) Run(ctx context.Context) (ok bool, err error) {
	all, err := Languages(r.Dir)
	if err != nil {
		return false, err
	}
	if err := r.known(all); err != nil {
		return false, err
	}
	results := filepath.Join(r.Dir, "build", "results")
	if results, err = filepath.Abs(results); err != nil {
		return false, err
	}
	if !r.Fetch {
		if err := os.RemoveAll(results); err != nil {
			return false, err
		}
	}
	skipped := map[string]string{}
	for _, l := range all {
		why := "left out by ONLY"
		if len(r.Only) == 0 || slices.Contains(r.Only, l.ID) {
			why = r.language(ctx, l, results)
		}
		if why != "" {
			skipped[l.ID] = why
			r.say("%s: skipped: %s", l.Name, why)
		}
	}
	if r.Fetch || ctx.Err() != nil {
		return !r.failed, ctx.Err()
	}
	found, err := Results(results)
	if err != nil {
		return false, err
	}
	b := Board{Languages: all, Results: found, Skipped: skipped}
	if err := b.Write(r.Board); err != nil {
		return false, err
	}
	r.say("the scoreboard is %s", filepath.Join(r.Board, boardFile))
	return !r.failed, nil
}

// known says which languages that were asked for there are none of.
func (r *Runner) known(all []Language) error {
	var ids []string
	for _, l := range all {
		ids = append(ids, l.ID)
	}
	var errs []error
	for _, id := range r.Only {
		if !slices.Contains(ids, id) {
			errs = append(errs, fmt.Errorf("there is no language %q%s", id, registry.Suggest(id, ids)))
		}
	}
	return errors.Join(errs...)
}

// language installs one language and runs its clients. It returns why it was skipped, "" if it was not.
func (r *Runner) language(ctx context.Context, l Language, results string) string {
	if why := l.Missing(); why != "" {
		return why
	}
	began := time.Now()
	if err := l.Install(ctx); err != nil {
		return "its packages could not be fetched: " + err.Error()
	}
	if r.Fetch {
		return ""
	}
	if len(l.Judge) > 0 {
		r.itself(ctx, l, results)
	} else {
		r.clients(ctx, l, results)
	}
	r.say("%s: %d clients in %v", l.Name, len(l.Clients), time.Since(began).Round(time.Second))
	return ""
}

// itself has a language judge its own clients.
func (r *Runner) itself(ctx context.Context, l Language, results string) {
	argv := l.command(l.Judge, "{{results}}", results)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = l.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.fail("%s: %v\n%s", l.Name, err, out)
	}
}

// clients runs the clients of a language, a few at a time.
func (r *Runner) clients(ctx context.Context, l Language, results string) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, c := range l.Clients {
		group.Go(func() error {
			began := time.Now()
			result, err := c.Examine(ctx, func(method string) driver.Client { return l.Driver(c, method) }, Exam{Cases: Cases(), Whole: true, Worker: l.Worker(c)})
			switch {
			case err != nil:
				r.fail("%s: %v", c.Title(), err)
				return nil
			case len(result.Differences) > 0:
				r.fail("%s differs from %s:\n  %s", c.Title(), c.ID+clientSuffix, strings.Join(result.Differences, "\n  "))
			default:
				r.say("%s: as expected, in %v", c.Title(), time.Since(began).Round(time.Second))
			}
			if err := result.Write(results); err != nil {
				r.fail("%v", err)
			}
			return nil
		})
	}
	_ = group.Wait() // what fails is told at once
}

func (r *Runner) say(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(r.Out, format+"\n", args...)
}

func (r *Runner) fail(format string, args ...any) {
	r.say(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}
