package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// inferFlags are the settings of infer, as given.
type inferFlags struct {
	client  string
	each    bool
	as      string
	horizon span
	logs    logFlags
}

func newInfer(w *world) *cobra.Command {
	f := inferFlags{as: "text"}
	cmd := &cobra.Command{
		Use:   "infer [flags] FILE...",
		Short: "Tell the retry policy behind a journal or access log",
		Long: `Reads journals or access logs (- is stdin; gzip and zstd are unpacked) as one
history, and tells the retry policy that shows in it: how often a call is tried,
how waits grow and spread, which answers are tried again and which are not, with
which methods, and what becomes of a Retry-After. Each finding comes with how
sure it is; what the history cannot decide is left open, with what would.

All calls count as one client's unless --each or --client tells them apart.

Exit codes:
    0  a policy, or what is known of it, was told
    2  wrong usage, or a log that cannot be read
    3  no call failed, so that nothing shows
  130  interrupted`,
		Example: `  retrygate infer journal.jsonl
  retrygate infer --client 203.0.113.7 access.log*
  retrygate infer --each --as json requests.json.gz
  retrygate infer --horizon 24h deliveries.log`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("infer: name a journal or log; - is stdin")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return w.infer(f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.client, "client", "", "look at the client of this `NAME` alone")
	flags.BoolVar(&f.each, "each", false, "tell each client's policy by itself, of those with the most requests first")
	flags.StringVar(&f.as, "as", f.as, "write it in this `FORMAT`: "+strings.Join(infer.Formats.Names(), ", "))
	flags.Var(&f.horizon, "horizon", "longest wait after which equal requests still are one call, as of a sender of webhooks (default: seen from the waits)")
	f.logs.add(flags)
	return cmd
}

func (w *world) infer(f inferFlags, files []string) error {
	format, formatErr := infer.Formats.Get(f.as)
	if formatErr != nil {
		formatErr = fmt.Errorf("--as: %w", formatErr)
	}
	if f.each && f.client != "" {
		formatErr = errors.Join(formatErr, errors.New("infer: give either --each or --client"))
	}
	reader, logErr := w.openLogs(files, f.logs)
	if err := errors.Join(formatErr, logErr); err != nil {
		if reader != nil {
			reader.Close()
		}
		return err
	}
	o := observer{flags: f, log: reader, clients: map[string]int{}}
	summary, err := w.eachLine(reader, o.add)
	if err != nil {
		return err
	}
	o.observe()
	if f.client != "" && o.clients[f.client] == 0 {
		busiest := o.busiest()
		return fmt.Errorf("infer: --client: no request of %q is in the log%s", f.client, registry.Suggest(f.client, busiest[:min(len(busiest), mostNamed)]))
	}
	in := infer.Inference{Version: version(), Files: files, Policies: o.policies(), Notes: o.notes(summary)}
	if err := format.Write(w.stdout, in, columns(w.style(w.stdout))); err != nil {
		return err
	}
	if !slices.ContainsFunc(in.Policies, func(p infer.Named) bool { return p.Policy.Shows() }) {
		return exitCode(3)
	}
	return nil
}

// observer collects the calls of a log, stretch by stretch.
type observer struct {
	flags   inferFlags
	log     *accesslog.Reader
	entries []journal.Entry
	calls   []infer.Call
	options infer.Options
	clients map[string]int // requests
	dropped int
}

// mostObserved bounds the calls that are kept: more tell nothing new. Those that were tried again, or failed, count.
const mostObserved = 50_000

func (o *observer) add(e *journal.Entry) {
	o.clients[e.Client]++
	if o.flags.client != "" && e.Client != o.flags.client {
		return
	}
	o.entries = append(o.entries, *e)
	if len(o.entries) >= stretchEntries {
		o.observe()
	}
}

// observe makes calls of what was collected, and starts over.
func (o *observer) observe() {
	if len(o.entries) == 0 {
		return
	}
	seen := o.log.Summary()
	run := &assert.Run{Began: seen.Began, Noise: assert.Noise{Resolution: seen.Resolution}}
	for i := range o.entries {
		run.Until = max(run.Until, o.entries[i].End())
	}
	run.Until = max(run.Until, seen.Until)
	horizon := cmp.Or(time.Duration(o.flags.horizon), assert.SeenHorizon(o.entries, assert.Strict().Responses))
	calls := assert.Calls(o.entries, assert.Key{Horizon: horizon, Run: run})
	o.options = assert.InferOptions(calls)
	for _, c := range assert.Observed(calls) {
		if len(c.Attempts) == 1 && !c.Attempts[0].Failed {
			continue
		}
		if len(o.calls) >= mostObserved {
			o.dropped++
			continue
		}
		o.calls = append(o.calls, c)
	}
	o.entries = o.entries[:0]
}

// busiest lists the clients, those with the most requests first.
func (o *observer) busiest() []string {
	names := make([]string, 0, len(o.clients))
	for name := range o.clients {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := o.clients[b] - o.clients[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

// mostEach bounds the clients whose policies --each tells.
const mostEach = 50

func (o *observer) policies() []infer.Named {
	named := func(client string, calls []infer.Call) infer.Named {
		p := infer.Of(calls, o.options)
		return infer.Named{Client: client, Sentence: p.Sentence(), Policy: p}
	}
	if !o.flags.each {
		return []infer.Named{named(o.flags.client, o.calls)}
	}
	by := map[string][]infer.Call{}
	for _, c := range o.calls {
		by[c.Client] = append(by[c.Client], c)
	}
	var all []infer.Named
	for _, client := range o.busiest() {
		if calls := by[client]; len(calls) > 0 && len(all) < mostEach {
			all = append(all, named(client, calls))
		}
	}
	return all
}

func (o *observer) notes(s accesslog.Summary) []string {
	notes := logNotes(s)
	if o.dropped > 0 {
		notes = append(notes, fmt.Sprintf("the first %d calls that failed are looked at; %d more are not", mostObserved, o.dropped))
	}
	if !s.Whole && !s.RetryAfter {
		notes = append(notes, "the log does not name Retry-After, so waits that it set count as the client's own")
	}
	return notes
}
