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

// atOnce is how many clients that are commands are judged side by side: most of their time goes by while they wait, but their
// processes must not starve each other.
const atOnce = 8

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
	var here []Language
	for _, l := range all {
		why := "left out by ONLY"
		if len(r.Only) == 0 || slices.Contains(r.Only, l.ID) {
			why = r.install(ctx, l)
		}
		if why != "" {
			skipped[l.ID] = why
			r.say("%s: skipped: %s", l.Name, why)
			continue
		}
		here = append(here, l)
	}
	if r.Fetch || ctx.Err() != nil {
		return !r.failed, ctx.Err()
	}
	r.judge(ctx, here, results)
	if ctx.Err() != nil {
		return false, ctx.Err()
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

// install installs what one language's clients need. It returns why the language is skipped, "" if it is not.
func (r *Runner) install(ctx context.Context, l Language) string {
	if why := l.Missing(); why != "" {
		return why
	}
	if err := l.Install(ctx); err != nil {
		return "its packages could not be fetched: " + err.Error()
	}
	return ""
}

// judge runs the clients of all languages: those that judge their clients themselves one after the other, then the clients of the
// others, a few at a time.
func (r *Runner) judge(ctx context.Context, all []Language, results string) {
	began := time.Now()
	var group errgroup.Group
	group.SetLimit(atOnce)
	clients := 0
	for _, l := range all {
		clients += len(l.Clients)
		if len(l.Judge) > 0 {
			r.itself(ctx, l, results)
			continue
		}
		for _, c := range l.Clients {
			group.Go(func() error {
				r.client(ctx, l, c, results)
				return nil
			})
		}
	}
	_ = group.Wait() // what fails is told at once
	r.say("all %d clients in %v", clients, time.Since(began).Round(time.Second))
}

// itself has a language judge its own clients.
func (r *Runner) itself(ctx context.Context, l Language, results string) {
	began := time.Now()
	argv := l.command(l.Judge, "{{results}}", results)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = l.Dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.fail("%s: %v\n%s", l.Name, err, out)
	}
	r.say("%s: %d clients in %v", l.Name, len(l.Clients), time.Since(began).Round(time.Second))
}

// client runs one client.
func (r *Runner) client(ctx context.Context, l Language, c Client, results string) {
	began := time.Now()
	driven := func(method string) driver.Client { return l.Driver(c, method) }
	result, err := c.Examine(ctx, driven, Exam{Cases: Cases(), Whole: true, Worker: l.Worker(c)})
	switch {
	case err != nil:
		r.fail("%s: %v", c.Title(), err)
		return
	case len(result.Differences) > 0:
		r.fail("%s differs from %s:\n  %s", c.Title(), c.ID+clientSuffix, strings.Join(result.Differences, "\n  "))
	default:
		r.say("%s: as expected, in %v", c.Title(), time.Since(began).Round(time.Second))
	}
	if err := result.Write(results); err != nil {
		r.fail("%v", err)
	}
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
