package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// verifyFlags are the settings of verify, as given.
type verifyFlags struct {
	contract   string
	known      string
	scenarios  []string
	clients    number
	seed       seed
	timeout    span
	speed      speed
	failOn     level
	reports    destinations
	journal    string
	accessLogs []string
	logs       logFlags
	journalDir string
	upstream   upstream
	tls        tlsFlags
	quiet      bool
	worker     worker
}

func newVerify(w *world) *cobra.Command {
	f := verifyFlags{seed: 1, failOn: level{assert.Major}}
	cmd := &cobra.Command{
		Use:   "verify [flags] -- COMMAND [ARG...]",
		Short: "Judge a client: run it against faults and check what it did",
		Long: `Runs the command once for each client that a scenario wants, each on an
address of its own, and judges by what arrived there. {{url}} in the
arguments becomes that address; it is also in the environment as
RETRYGATE_URL. The client may be written in any language and needs to know
nothing of retrygate.

With --worker the command makes a call for each line on its standard input:
the call's id, a space and the address, as in

  client-1.17 http://127.0.0.1:40123

and ends at the end of the input, once its calls have. Lines come at the pace
of the scenario, whether calls before have ended or not. Send the id as
X-Retrygate-Call with each attempt, and calls are told apart. Breakers,
budgets, throttles and the return from an outage are judged only so: a command
that makes one call each time it is started remembers nothing.

With --worker=shared one process makes the calls of all clients of a scenario,
which saves most of the time where it takes long to start (Java, Node). It
reads the same lines, each with its client's own address, and makes all calls
side by side. When one has ended it prints its id on a line of its own, with
what went wrong behind it if something did, and flushes its output:

  client-1.17
  client-3.1 no answer within 10 s

It is ended with the scenario. What it remembers it remembers for all clients.
{{url}} and RETRYGATE_URL are not there.

With --journal no client runs: a history that serve wrote is judged. With
--access-log what a server or proxy wrote down is judged, as far as it tells:
nginx, Apache, Envoy, HAProxy, Caddy, IIS, load balancers, JSON, also packed.

Exit codes:
    0  the contract is kept
    1  it is broken, at the level of --fail-on or above
    2  wrong usage, or a client that could not be judged
    3  nothing is broken, but something could not be decided
  130  interrupted`,
		Example: `  retrygate verify -- curl -sS --retry 3 '{{url}}/driver/status'
  retrygate verify --scenario sustained-400 --scenario 503-burst -- python3 client.py
  retrygate verify --contract contract.yaml --report junit=junit.xml -- ./client
  retrygate verify --report json -- node client.js | jq .verdict
  retrygate verify --worker -- python3 worker.py
  retrygate verify --worker=shared -- java Worker
  retrygate verify --speed auto -- python3 client.py
  retrygate verify --journal journal.jsonl
  retrygate verify --contract contract.yaml --access-log access.log*`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.journal != "" && len(f.accessLogs) > 0:
				return errors.New("verify: give either --journal or --access-log")
			case f.journal != "":
				return w.recorded(cmd, f, args)
			case len(f.accessLogs) > 0:
				return w.logged(cmd, f, args)
			}
			for _, name := range logFlagNames {
				if cmd.Flags().Changed(name) {
					return fmt.Errorf("verify: --%s says how to read an access log; name one with --access-log", name)
				}
			}
			if err := f.commandGiven(cmd, args); err != nil {
				return err
			}
			if err := f.speed.possible(f.upstream.URL != nil); err != nil {
				return err
			}
			return w.verify(f, args)
		},
	}
	flags := cmd.Flags()
	// Flags end at the first word that is none, so that a forgotten -- is told from a misspelt flag.
	flags.SetInterspersed(false)
	flags.StringVar(&f.contract, "contract", "", "judge by the contract in `FILE` (default: the profile strict)")
	flags.StringVar(&f.known, "known", "", "accept the breaches that `FILE` lists until they expire: they warn (see contract schema known)")
	flags.Var(&f.worker, "worker", "give the command a line for each call: start it for each client, or once for all that run side by side (shared)")
	flags.Lookup("worker").NoOptDefVal = eachWorker
	flags.StringArrayVar(&f.scenarios, "scenario", nil, "run the scenarios of these `NAME`s, or in these files, with commas between or the flag repeated (default: all)")
	flags.Var(&f.clients, "clients", "run at least so many clients in each scenario (default: what it wants)")
	flags.Var(&f.seed, "seed", seedUsage)
	flags.Var(&f.timeout, "timeout", "stop a client after so long; what takes longer to show stays undecided (default: as the scenario and the contract's deadline need)")
	flags.Var(&f.speed, "speed", "run the client's clock so many times faster, or as fast as shows the same verdicts (auto); takes libfaketime (default: real time)")
	flags.Var(&f.failOn, "fail-on", "least level of a breach that counts: advisory, minor, major or critical")
	flags.Var(&f.reports, "report", "write a report as well ("+strings.Join(formatNames(), ", ")+"); without a file, in place of the text")
	flags.StringVar(&f.journal, "journal", "", "judge the history in `FILE` (- is stdin) instead of running a client")
	flags.StringArrayVar(&f.accessLogs, "access-log", nil, "judge the access log in `FILE` (- is stdin), and in further files behind the flags, instead of running a client")
	f.logs.add(flags)
	flags.StringVar(&f.journalDir, "journal-dir", "", "keep each scenario's history in `DIR` as JSON Lines")
	flags.Var(&f.upstream, "upstream", "pass undisturbed requests on to here (default: a stub that says 200)")
	f.tls.define(flags)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print the verdict line only, and no progress")
	completeNames(cmd)
	return cmd
}

// commandGiven checks that there is a client to run and that it can be found.
func (f *verifyFlags) commandGiven(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("verify: no client to judge; put its command after --, as in retrygate verify -- curl '{{url}}'")
	case f.worker != "" && slices.Contains(workerNames, args[0]):
		return fmt.Errorf("verify: write --worker=%s, with = between", args[0])
	case cmd.ArgsLenAtDash() != 0:
		return fmt.Errorf("verify: put -- before the client's command: retrygate verify [flags] -- %s", report.Quote(args))
	}
	if err := driver.Check(f.worker.client(args)); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	return nil
}

func (w *world) verify(f verifyFlags, argv []string) error {
	request := contract.Request{
		Client: f.worker.client(argv), Clients: int(f.clients), Seed: uint64(f.seed), Limit: time.Duration(f.timeout),
		Speed:    int(f.speed),
		Upstream: f.upstream.URL, FailOn: f.failOn.Level,
		JUnit: f.reports.junit(), Journals: f.journalDir,
	}
	ca, err := f.tls.authority("verify")
	if err != nil {
		return err
	}
	request.CA = ca
	outlivePipes()
	var contractErr, knownErr, scenarioErr, dirErr error
	request.Contract, contractErr = w.loadContract(f.contract)
	request.Known, knownErr = w.loadKnown(f.known)
	var leftOut []string
	if request.Scenarios, scenarioErr = w.loadScenarios(f.scenarios); len(f.scenarios) == 0 && contractErr == nil {
		request.Scenarios, leftOut = contract.Default(request.Client, request.Contract, request.CA != nil)
	}
	if f.journalDir != "" {
		dirErr = os.MkdirAll(f.journalDir, 0o755)
	}
	upstreamErr := f.upstream.reach(w.ctx)
	if err := errors.Join(contractErr, knownErr, scenarioErr, dirErr, upstreamErr); err != nil {
		return err
	}
	if err := f.reports.open(w.ctx); err != nil {
		return err
	}
	defer f.reports.close()

	request.Scenarios = contract.Sized(request.Scenarios, request.Contract)
	board := newBoard(w, played(request), request.Clients, f.quiet)
	request.Progress = board.event
	result, err := contract.Verify(w.ctx, request)
	board.close()
	if err == nil {
		err = w.ctx.Err()
	}
	if err != nil {
		return err
	}
	result.Notes = slices.Concat(result.Notes, leftOut, contradictions(request.Contract))
	return w.conclude(f, result)
}

// played are the scenarios that the client is put through: one that ends after a call is given no work, and over plain HTTP
// none meets what is wrong with a certificate.
func played(r contract.Request) []scenarios.Scenario {
	return slices.DeleteFunc(slices.Clone(r.Scenarios), func(s scenarios.Scenario) bool {
		return !s.Work.IsZero() && !driver.Works(r.Client) || s.Plan().NeedsTLS() && r.CA == nil
	})
}

// contradictions are what contract lint finds, as notes: a promise that nobody can keep says little of who breaks it.
func contradictions(c *assert.Contract) (notes []string) {
	for _, text := range c.Lint() {
		notes = append(notes, "contract: "+text)
	}
	return notes
}

// conclude writes the reports and turns the verdict into the exit code.
func (w *world) conclude(f verifyFlags, r report.Report) error {
	r.Version, r.FailOn = version(), f.failOn.Level
	r.Conclude()
	if err := f.reports.write(w, r, f.quiet); err != nil {
		return err
	}
	if r.Exit == report.ExitKept {
		return nil
	}
	return exitCode(r.Exit)
}
