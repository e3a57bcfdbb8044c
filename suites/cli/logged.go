package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/journal/accesslog"
)

// logged judges access logs against every clause of the contract that they can show, or those that the named scenarios
// judge.
func (w *world) logged(cmd *cobra.Command, f verifyFlags, args []string) error {
	files := append(slices.Clone(f.accessLogs), args...)
	for _, arg := range args {
		if len(arg) > 1 && arg[0] == '-' {
			return fmt.Errorf("verify: %s stands behind a file; put flags before the files", arg)
		}
	}
	if err := f.judgesOnly(cmd, "access-log"); err != nil {
		return err
	}
	c, contractErr := w.loadContract(f.contract)
	known, knownErr := w.loadKnown(f.known)
	named, scenarioErr := w.namedOnly(f.scenarios)
	reader, logErr := w.openLogs(files, f.logs)
	if err := errors.Join(contractErr, knownErr, scenarioErr, logErr); err != nil {
		if reader != nil {
			reader.Close()
		}
		return err
	}
	if err := f.reports.open(w.ctx); err != nil {
		reader.Close()
		return err
	}
	defer f.reports.close()
	j := newLogJudge(c, named, reader)
	summary, err := w.eachLine(reader, j.add)
	if err != nil {
		return err
	}
	r := j.report(summary, files)
	r.Notes = slices.Concat(r.Notes, logNotes(summary), contradictions(c))
	r.Accept(known, time.Now())
	return w.conclude(f, r)
}

// judgesOnly refuses the flags that shape a run where none takes place.
func (f *verifyFlags) judgesOnly(cmd *cobra.Command, instead string) error {
	for _, name := range liveOnly {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("verify: --%s shapes a run; with --%s nothing is run", name, instead)
		}
	}
	if f.reports.junit() != "" {
		return fmt.Errorf("verify: junit needs a run; with --%s take another report format", instead)
	}
	return nil
}

// stretchEntries is how much of a log is judged at once, so that memory stays bounded (about 300 MB). A call that goes over
// the end of a stretch is judged as two, which can only be to the client's advantage.
const stretchEntries = 150_000

// logJudge judges a log stretch by stretch.
type logJudge struct {
	contract *assert.Contract
	only     []string
	levels   map[string]assert.Level
	log      *accesslog.Reader
	entries  []journal.Entry
	clients  map[string]bool
	results  map[string]report.Result
	order    []string
	waits    []report.Wait
	policy   *report.Policy
	seen     report.Scenario
	parts    int
}

func newLogJudge(c *assert.Contract, only []string, log *accesslog.Reader) *logJudge {
	j := &logJudge{contract: c, only: only, log: log, levels: map[string]assert.Level{}, clients: map[string]bool{}, results: map[string]report.Result{}}
	for _, judged := range c.Judges() {
		j.levels[judged.Kind.ID] = judged.Level
	}
	return j
}

func (j *logJudge) add(e *journal.Entry) {
	j.entries = append(j.entries, *e)
	j.clients[e.Client] = true
	if len(j.entries) >= stretchEntries {
		j.judge()
	}
}

// judge judges what was collected, and starts over.
func (j *logJudge) judge() {
	if len(j.entries) == 0 {
		return
	}
	seen := j.log.Summary()
	run := &assert.Run{Began: seen.Began, Noise: assert.Noise{Resolution: seen.Resolution}}
	for i := range j.entries {
		run.Until = max(run.Until, j.entries[i].End())
	}
	contract := j.contract
	if !seen.Whole && !seen.RetryAfter {
		contract = withoutRetryAfter(contract)
	}
	key := contract.Key()
	key.Run = run
	calls := assert.Calls(j.entries, key)
	j.seen.Count(calls)
	if j.parts++; j.parts == 1 {
		j.waits, j.policy = report.WaitsOf(recordedAs, calls), report.PolicyOf(calls)
	}
	for _, result := range assert.Judge(contract, j.only, calls) {
		result = excuse(result, j.entries, seen.Resolution)
		j.merge(report.NewResult(recordedAs, j.levels[result.Clause], result, calls))
	}
	j.entries = j.entries[:0]
}

// withoutRetryAfter leaves open what depends on a header or a key that the log never names.
func withoutRetryAfter(c *assert.Contract) *assert.Contract {
	open := *c
	open.Responses = c.Responses.Clone()
	for status := 300; status <= 599; status++ {
		if b := c.Responses.Status(status).Retry; b == assert.WithRetryAfter || b == assert.WithRetryAfterOrKey {
			open.Responses.Set(status, status, assert.Response{})
		}
	}
	return &open
}

// weight orders verdicts by what a stretch adds to those before: a breach stays one, and what was kept once was exercised.
var weight = map[assert.Verdict]int{assert.NotExercised: 0, assert.Inconclusive: 1, assert.Pass: 2, assert.Fail: 3}

func (j *logJudge) merge(r report.Result) {
	before, known := j.results[r.Clause]
	if !known {
		j.order = append(j.order, r.Clause)
	}
	if !known || weight[r.Verdict] > weight[before.Verdict] {
		j.results[r.Clause] = r
	}
}

// report judges the last stretch and puts everything together.
func (j *logJudge) report(s accesslog.Summary, files []string) report.Report {
	j.judge()
	j.seen.Name, j.seen.Clients, j.seen.Requests, j.seen.Seconds = recordedAs, len(j.clients), s.Entries, s.Until.Seconds()
	r := report.Report{
		Contract:  report.Contract{Name: j.contract.Name, Profile: j.contract.Profile},
		Clients:   []report.Client{{Name: "log " + strings.Join(files, " ")}},
		Waits:     j.waits,
		Policy:    j.policy,
		Scenarios: []report.Scenario{j.seen},
	}
	if j.parts > 1 {
		r.Notes = append(r.Notes, fmt.Sprintf("judged in %d stretches of %d requests; the waits and the policy are those of the first", j.parts, stretchEntries))
	}
	silent := silence(s)
	for _, id := range j.order {
		result := j.results[id]
		if why := silent[id]; why != "" {
			result = report.Result{Scenario: recordedAs, Clause: id, Level: result.Level, Detail: why}
		}
		r.Results = append(r.Results, result)
	}
	return r
}

// silence lists the clauses that the log can show nothing of, with the reason.
func silence(s accesslog.Summary) map[string]string {
	silent := map[string]string{}
	if s.Whole {
		return silent
	}
	if !s.Keys {
		for _, id := range []string{"idempotent-only", "idempotency-key-stable"} {
			silent[id] = "the log names no idempotency keys; with --log-field key=KEY it could"
		}
	}
	if !s.Bodies {
		for _, id := range []string{"body-identical", "identical-payload-rate"} {
			silent[id] = "the log tells nothing of bodies; with --log-field body=KEY (a hash) it could"
		}
	}
	return silent
}
