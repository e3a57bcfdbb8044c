package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/playbook"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
	"github.com/retrygate/retrygate/faultserver/registry"
)

// reportFlags are the settings of report, as given.
type reportFlags struct {
	contract string
	client   string
	as       string
	alerts   rates
	logs     logFlags
}

// rates is the --alert flag.
type rates []assert.Rate

func (*rates) Type() string { return "N/TIME" }

func (r *rates) String() string {
	words := make([]string, len(*r))
	for i, rate := range *r {
		words[i] = rate.String()
	}
	return strings.Join(words, " ")
}

func (r *rates) Set(text string) error {
	rate, err := assert.ParseRate(text)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("rate %q: ", text)))
	}
	if rate.N > mostAlert {
		return fmt.Errorf("%d requests are more than an alert counts; want %d at most", rate.N, mostAlert)
	}
	*r = append(*r, rate)
	return nil
}

// mostAlert bounds what is remembered for each client and endpoint, so that memory grows with clients and not with requests.
const mostAlert = 10_000

func newReport(w *world) *cobra.Command {
	f := reportFlags{as: "text"}
	cmd := &cobra.Command{
		Use:   "report [flags] FILE...",
		Short: "Find the clients behind a storm in access logs or journals",
		Long: `Reads access logs or journals (- is stdin; gzip and zstd are unpacked) as one
history, and names the clients whose failed requests come again where the
contract says that they must not: how many, how fast, since when, with what
answers, next to what is usual on that endpoint. Busy clients whose requests
succeed, pollers and many users behind one address are not accused.

With --client it writes the page about one of them, to be sent to its owner.

Exit codes:
    0  no client stands out
    1  a client is accused, or one sent more than an --alert
    2  wrong usage, or a log that cannot be read
  130  interrupted`,
		Example: `  retrygate report access.log*
  retrygate report --log-client header:x-api-key --as json requests.json.gz
  retrygate report --client 203.0.113.7 --as html access.log > evidence.html
  retrygate report --alert 100/5m --as json - < last-minutes.log`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("report: name a log or journal; - is stdin")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return w.investigate(f, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.contract, "contract", "", "hold clients to the contract in `FILE` (default: the profile strict)")
	flags.StringVar(&f.client, "client", "", "write about the client of this `NAME` alone")
	flags.StringVar(&f.as, "as", f.as, "write it in this `FORMAT`: "+strings.Join(playbook.Formats.Names(), ", "))
	flags.Var(&f.alerts, "alert", "tell each client that sends more to one endpoint, as in 100/5m; may be repeated")
	f.logs.add(flags)
	return cmd
}

func (w *world) investigate(f reportFlags, files []string) error {
	c, contractErr := w.loadContract(f.contract)
	format, formatErr := playbook.Formats.Get(f.as)
	if formatErr != nil {
		formatErr = fmt.Errorf("--as: %w", formatErr)
	}
	reader, logErr := w.openLogs(files, f.logs)
	if err := errors.Join(contractErr, formatErr, logErr); err != nil {
		if reader != nil {
			reader.Close()
		}
		return err
	}
	v := playbook.New(playbook.Options{Contract: c, Alerts: f.alerts})
	summary, err := w.eachLine(reader, func(e *journal.Entry) { v.Add(e) })
	if err != nil {
		return err
	}
	if f.client != "" && !v.Has(f.client) {
		busiest := v.Names()
		return fmt.Errorf("report: --client: no request of %q is in the log%s", f.client, registry.Suggest(f.client, busiest[:min(len(busiest), mostNamed)]))
	}
	found := v.Findings(historyFacts(summary, files, f.client, c))
	found.Version = version()
	if err := format.Write(w.stdout, found, w.style(w.stdout)); err != nil {
		return err
	}
	if found.Exit != report.ExitKept {
		return exitCode(found.Exit)
	}
	return nil
}

// mostNamed bounds the clients that an error message names.
const mostNamed = 10

// historyFacts is what the findings need to know of the log.
func historyFacts(s accesslog.Summary, files []string, client string, c *assert.Contract) playbook.Facts {
	f := playbook.Facts{
		Files: files, Malformed: s.Lines(), Began: s.Began, Until: s.Until, Resolution: s.Resolution, Only: client,
		Notes: slices.Concat(logNotes(s), contradictions(c)),
	}
	for clause := range silence(s) {
		f.Silent = append(f.Silent, clause)
	}
	return f
}
