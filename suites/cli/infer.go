package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// inferFlags are the settings of infer, as given.
type inferFlags struct {
	client   string
	each     bool
	ended    bool
	contract string
	as       string
	horizon  span
	logs     logFlags
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

With --contract it is written as a contract as well, which the client keeps as
it was seen, for both teams to read, to change and to sign. What was not seen is
left open there.

Exit codes:
    0  a policy, or what is known of it, was told
    2  wrong usage, or a log that cannot be read
    3  no call failed, so that nothing shows
  130  interrupted`,
		Example: `  retrygate infer journal.jsonl
  retrygate infer --client 203.0.113.7 access.log*
  retrygate infer --each --as json requests.json.gz
  retrygate infer --horizon 24h deliveries.log
  retrygate infer --contract vendor.yaml --client 203.0.113.7 access.log`,
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
	flags.BoolVar(&f.ended, "ended", false, "the clients had ended by themselves when the history did, so that no attempt was still to come (default: seen from the silence)")
	flags.StringVar(&f.contract, "contract", "", "write the policy to `FILE` as a contract that the client keeps (- is stdout, in place of the report)")
	flags.Var(&f.horizon, "horizon", "longest wait after which equal requests still are one call, as of a sender of webhooks (default: seen from the waits)")
	f.logs.add(flags)
	return cmd
}

func (w *world) infer(f inferFlags, files []string) error {
	format, formatErr := infer.Formats.Get(f.as)
	if formatErr != nil {
		formatErr = fmt.Errorf("--as: %w", formatErr)
	}
	switch {
	case f.each && f.client != "":
		formatErr = errors.Join(formatErr, errors.New("infer: give either --each or --client"))
	case f.each && f.contract != "":
		formatErr = errors.Join(formatErr, errors.New("infer: a contract tells of one policy; name a client with --client instead of --each"))
	}
	if formatErr != nil {
		return formatErr
	}
	o := observer{flags: f, clients: map[string]int{}}
	if err := w.observe(&o, files); err != nil {
		return err
	}
	if f.client != "" && o.clients[f.client] == 0 {
		busiest := o.busiest()
		return fmt.Errorf("infer: --client: no request of %q is in the log%s", f.client, registry.Suggest(f.client, busiest[:min(len(busiest), mostNamed)]))
	}
	in := infer.Inference{Version: version(), Files: files, Policies: o.policies(), Notes: o.notes}
	if f.contract != "" && in.Policies[0].Policy.Shows() {
		text, err := assert.InferredContract(contractName(f.contract), in.Policies[0].Policy, o.sample)
		if err != nil {
			return err
		}
		if f.contract == "-" {
			_, err := w.stdout.Write(text)
			return err
		}
		if err := w.createContract("infer", f.contract, text); err != nil {
			return err
		}
	}
	if err := format.Write(w.stdout, in, columns(w.style(w.stdout))); err != nil {
		return err
	}
	if !slices.ContainsFunc(in.Policies, func(p infer.Named) bool { return p.Policy.Shows() }) {
		return exitCode(3)
	}
	return nil
}

// contractName is what a contract in the file is called.
func contractName(file string) string {
	if file == "-" {
		return "inferred"
	}
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// observer collects the calls of journals and logs, stretch by stretch.
type observer struct {
	flags   inferFlags
	calls   []infer.Call
	sample  []assert.Call // of the first stretch, to hold a contract against
	options infer.Options
	clients map[string]int // requests
	dropped int
	notes   []string
}

// mostObserved bounds the calls that are kept: more tell nothing new. Those that were tried again, or failed, count.
const mostObserved = 50_000

// observe reads each journal as a history of its own, since several may have been written side by side, and all access logs
// as one.
func (w *world) observe(o *observer, files []string) error {
	var logs []string
	for _, file := range files {
		if !w.isJournal(file) {
			logs = append(logs, file)
			continue
		}
		h, notes, err := w.readJournal(file)
		if err != nil {
			return err
		}
		o.notes = append(o.notes, notes...)
		run := &assert.Run{Began: h.Began, Lost: h.Lost, Until: h.Until, Ended: o.flags.ended}
		entries := slices.DeleteFunc(h.Entries, func(e journal.Entry) bool { return !o.counts(&e) })
		o.add(o.group(entries, run))
	}
	if len(logs) > 0 {
		if err := w.observeLogs(o, logs); err != nil {
			return err
		}
	}
	if o.dropped > 0 {
		o.notes = append(o.notes, fmt.Sprintf("the first %d calls that failed are looked at; %d more are not", mostObserved, o.dropped))
	}
	return nil
}

// isJournal reports whether a file begins as a journal does.
func (w *world) isJournal(file string) bool {
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return false
	}
	in, err := os.Open(file)
	if err != nil {
		return false
	}
	defer in.Close()
	head := make([]byte, len(journalBegins))
	_, err = io.ReadFull(in, head)
	return err == nil && string(head) == journalBegins
}

const journalBegins = `{"journal":1`

func (w *world) observeLogs(o *observer, files []string) error {
	reader, err := w.openLogs(files, o.flags.logs)
	if err != nil {
		return err
	}
	var entries []journal.Entry
	finish := func() {
		seen := reader.Summary()
		run := &assert.Run{Began: seen.Began, Until: seen.Until, Ended: o.flags.ended, Noise: assert.Noise{Resolution: seen.Resolution}}
		o.add(o.group(entries, run))
		entries = nil // calls may be parts of it
	}
	summary, err := w.eachLine(reader, func(e *journal.Entry) {
		if !o.counts(e) {
			return
		}
		if entries = append(entries, *e); len(entries) >= stretchEntries {
			finish()
		}
	})
	if err != nil {
		return err
	}
	finish()
	for _, note := range logNotes(summary) {
		if !strings.HasPrefix(note, "times in the log are rounded") { // the policy says what that means for it
			o.notes = append(o.notes, note)
		}
	}
	if !summary.Whole && !summary.RetryAfter {
		o.notes = append(o.notes, "the log does not name Retry-After, so waits that it set count as the client's own")
	}
	return nil
}

// counts notes a request, and reports whether it is to be looked at.
func (o *observer) counts(e *journal.Entry) bool {
	o.clients[e.Client]++
	return o.flags.client == "" || e.Client == o.flags.client
}

// group makes calls of the requests of one history, or one stretch of it.
func (o *observer) group(entries []journal.Entry, run *assert.Run) []assert.Call {
	horizon := cmp.Or(time.Duration(o.flags.horizon), assert.SeenHorizon(entries, assert.Strict().Responses))
	return assert.Calls(entries, assert.Key{Horizon: horizon, Run: run})
}

// add takes the calls of one stretch.
func (o *observer) add(calls []assert.Call) {
	if len(calls) == 0 {
		return
	}
	seen := assert.InferOptions(calls)
	o.options.Resolution = max(o.options.Resolution, seen.Resolution)
	if o.flags.contract != "" && len(o.sample) < stretchEntries {
		o.sample = append(o.sample, calls...)
	}
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
