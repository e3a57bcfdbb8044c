package cli

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/faultserver/fault"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// serveFlags are the settings of serve, as given.
type serveFlags struct {
	scenario, plan string
	upstream       upstream
	listen         string
	control        controlFlags
	allowRemote    bool
	journal        string
	force          bool
	clientHeader   string
	callHeader     string
	tls            tlsFlags
	clientCert     clientCert
	seed           seed
	quiet          bool
}

func newServe(w *world) *cobra.Command {
	f := serveFlags{seed: 1, listen: "127.0.0.1:8080"}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Stand where an API stands and misbehave, until Ctrl-C",
		Long: `Listens like an API and disturbs requests as a scenario or a plan says;
undisturbed ones are answered by a stub, or passed on to --upstream. Every
request is shown and, with --journal, written down as soon as it is over, so
that retrygate verify --journal can judge clients that someone else runs. An
earlier history in that file is replaced; any other file is left alone.`,
		Example: `  retrygate serve --scenario 503-burst
  retrygate serve --scenario flapping --upstream https://staging.example.com --journal journal.jsonl
  retrygate serve --plan plan.yaml --listen 127.0.0.1:0
  retrygate serve --control 127.0.0.1:8081
  retrygate serve --tls --tls-dir ~/.retrygate --plan certificates.yaml`,
		Args: none("serve"),
		RunE: func(*cobra.Command, []string) error { return w.serve(f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.scenario, "scenario", "", "scenario `NAME` or file that says what goes wrong (default: nothing does)")
	flags.StringVar(&f.plan, "plan", "", "`FILE` with rules, in place of a scenario")
	flags.Var(&f.upstream, "upstream", "pass undisturbed requests on to here (default: a stub that says 200)")
	flags.StringVar(&f.listen, "listen", f.listen, "`ADDRESS` to listen on; port 0 takes any free one")
	f.control.define(flags)
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "allow an address that other machines can reach")
	flags.StringVar(&f.journal, "journal", "", "keep the history in `FILE` as JSON Lines")
	flags.BoolVar(&f.force, "force", false, "let --journal replace a file that is no earlier history")
	flags.StringVar(&f.clientHeader, "client-header", "", "request `HEADER` that tells clients apart (default: their address)")
	flags.StringVar(&f.callHeader, "call-header", "", "request `HEADER` that is the same in all attempts of a call and tells calls apart (default: those known to)")
	f.tls.define(flags)
	flags.Var(&f.clientCert, "client-cert", "ask clients for a certificate and tell them apart by it, require one, or verify that the CA issued it")
	flags.Var(&f.seed, "seed", seedUsage)
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not show requests")
	completeNames(cmd)
	return cmd
}

func (w *world) serve(f serveFlags) error {
	plan, name, err := w.loadPlan(f)
	if err != nil {
		return err
	}
	if err := errors.Join(f.checkAddress("--listen", f.listen), f.checkAddress("--control", f.control.address)); err != nil {
		return err
	}
	for _, h := range [][2]string{{"client-header", f.clientHeader}, {"call-header", f.callHeader}} {
		if h[1] != "" && !fault.ValidName(h[1]) {
			return fmt.Errorf("serve: --%s %q is no header name; it takes letters, digits and hyphens, as in X-Client", h[0], h[1])
		}
	}
	ca, err := f.tls.authority("serve")
	if err != nil {
		return err
	}
	if ca == nil && f.clientCert != 0 {
		return errors.New("serve: --client-cert wants TLS, where clients show certificates; add --tls")
	}
	outlivePipes()
	j := journal.New(journal.DefaultLimit)
	complain := log.New(w.stderr, "retrygate: ", 0)
	srv := faultserver.New(f.options(complain, j, ca)...)
	defer srv.Close()
	if err := srv.Use(plan); err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	url, err := srv.Listen(f.listen, "")
	if err != nil {
		return listenError("--listen", f.listen, err)
	}
	driven, err := w.control(f, srv, plan)
	if err != nil {
		return err
	}
	if ca != nil {
		file, remove, err := trustFile(ca, f.tls.dir)
		if err != nil {
			return err
		}
		defer remove()
		var usage strings.Builder
		trustUsage(&usage, ca, file, url)
		driven += usage.String()
	}
	keeper, err := newKeeper(f.journal, f.force, j) // the last thing that can fail: an earlier history may go
	if err != nil {
		return err
	}
	if keeper.replaced {
		driven += "retrygate replaces the earlier history in " + f.journal + "\n"
	}
	fmt.Fprintf(w.stdout, "retrygate serves %s on %s; Ctrl-C ends it\n%s", name, url, driven)

	ctx, stop := context.WithCancel(w.ctx)
	defer stop()
	following := make(chan struct{})
	go func() {
		defer close(following)
		if err := keeper.follow(ctx); err != nil {
			complain.Printf("%v; requests are no longer written down", err)
		}
	}()
	tail := newTail(w, j, f.quiet)
	tail.follow(ctx)

	// Ctrl-C: end what hangs first, so that the history is whole.
	closed := srv.Close()
	<-following
	kept := keeper.close()
	tail.rest()
	w.summary(f, srv, j, kept)
	return errors.Join(closed, kept)
}

// loadPlan gives the plan and what to call it.
func (w *world) loadPlan(f serveFlags) (plan faultserver.Plan, name string, err error) {
	switch {
	case f.scenario != "" && f.plan != "":
		return plan, "", errors.New("serve: --scenario and --plan both say what goes wrong; give one")
	case f.scenario != "":
		s, err := w.loadScenario(f.scenario)
		return s.Plan(), s.Name, err
	case f.plan != "":
		data, err := w.readInput("plan", f.plan)
		if err == nil {
			err = strict.Decode(f.plan, data, &plan)
		}
		return plan, f.plan, err
	default:
		return plan, "without faults", nil
	}
}

func (f serveFlags) options(complain *log.Logger, j *journal.Journal, ca *devca.CA) []faultserver.Option {
	options := []faultserver.Option{
		faultserver.WithJournal(j), faultserver.WithSeed(uint64(f.seed)),
		faultserver.WithErrorLog(complain),
	}
	if f.upstream.URL != nil {
		options = append(options, faultserver.WithUpstream(f.upstream.URL))
	}
	if f.callHeader != "" {
		options = append(options, faultserver.WithCallHeader(f.callHeader))
	}
	if f.clientHeader != "" {
		options = append(options, faultserver.WithClientHeader(f.clientHeader))
	}
	if ca != nil {
		options = append(options, faultserver.WithTLS(ca), faultserver.WithClientCertificates(faultserver.ClientCertificates(f.clientCert)))
	}
	if f.allowRemote {
		options = append(options, faultserver.AllowRemote())
	}
	return options
}

// checkAddress refuses what other machines can reach, in terms of this command's flags.
func (f serveFlags) checkAddress(flag, addr string) error {
	if addr == "" {
		return nil
	}
	at, err := net.ResolveTCPAddr("tcp", addr)
	switch {
	case err != nil:
		return fmt.Errorf("serve: %s %s: %w", flag, addr, err)
	case !f.allowRemote && !at.IP.IsLoopback():
		return fmt.Errorf("serve: %s %s can be reached from other machines, and whoever reaches it can misuse it; "+
			"take 127.0.0.1:%d, or add --allow-remote if it is meant", flag, addr, at.Port)
	default:
		return nil
	}
}

func listenError(flag, addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("serve: %s is in use by another program; take another address with %s, or any free port with %s 127.0.0.1:0", addr, flag, flag)
	}
	return fmt.Errorf("serve: %s %s: %w", flag, addr, err)
}

// summary says what came, what went wrong on purpose, and how to have it judged; kept is why the history is not whole.
func (w *world) summary(f serveFlags, srv *faultserver.Server, j *journal.Journal, kept error) {
	paint := report.Paint(w.style(w.stdout).Color)
	line := func(label, text string) { fmt.Fprintf(w.stdout, "%s%s\n", paint.Dim(label), text) }
	fmt.Fprintln(w.stdout)
	line("requests  ", fmt.Sprintf("%d in %s", j.Len()+int(j.Lost()), report.Span(report.Milliseconds(j.Elapsed()))))
	line("faults    ", firedText(srv.Fired()))
	only := ""
	if f.scenario != "" && f.control.address == "" { // else other faults may have been at work
		only = " --scenario " + f.scenario
	}
	if f.journal == "" {
		line("history   ", "not kept; with --journal FILE it can be judged: retrygate verify --journal FILE"+only)
		return
	}
	if kept != nil {
		line("history   ", "not whole in "+f.journal+"; what was written before can be judged")
		return
	}
	line("history   ", "in "+f.journal+"; judge it: "+paint.Cyan("retrygate verify --journal "+report.Quote([]string{f.journal})+only))
}
