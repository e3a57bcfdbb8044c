package cli

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// liveOnly are the flags that shape a run and say nothing about a history.
var liveOnly = []string{"worker", "clients", "seed", "timeout", "journal-dir", "upstream"}

// recorded judges a history that was written down, against every clause of the contract, or those that the named
// scenarios judge.
func (w *world) recorded(cmd *cobra.Command, f verifyFlags, args []string) error {
	if len(args) > 0 {
		return errors.New("verify: --journal judges a history; it takes no client to run")
	}
	if err := f.judgesOnly(cmd, "journal"); err != nil {
		return err
	}
	c, contractErr := w.loadContract(f.contract)
	known, knownErr := w.loadKnown(f.known)
	named, scenarioErr := w.namedOnly(f.scenarios)
	history, notes, journalErr := w.readJournal(f.journal)
	if journalErr != nil && w.ctx.Err() == nil {
		journalErr = fmt.Errorf("--journal %w", journalErr)
	}
	if err := errors.Join(contractErr, knownErr, scenarioErr, journalErr); err != nil {
		return err
	}
	if err := f.reports.open(w.ctx); err != nil {
		return err
	}
	defer f.reports.close()
	r := judgeHistory(f.journal, c, named, history)
	r.Notes = slices.Concat(r.Notes, notes, contradictions(c))
	r.Accept(known, time.Now())
	return w.conclude(f, r)
}

// namedOnly returns the clauses that the named scenarios judge; none for no names.
func (w *world) namedOnly(names []string) (clauses []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	all, err := w.loadScenarios(names)
	for _, s := range all {
		clauses = append(clauses, s.Judges...)
	}
	slices.Sort(clauses)
	return slices.Compact(clauses), err
}

// readJournal reads a history. One whose end is missing is judged up to there, with a note that says so.
func (w *world) readJournal(file string) (h journal.History, notes []string, err error) {
	h, err = until(w.ctx, func() (journal.History, error) {
		in, err := w.open(file)
		if err != nil {
			return journal.History{}, bare(err)
		}
		defer in.Close()
		return journal.Read(in)
	})
	switch {
	case errors.Is(err, journal.ErrTruncated):
		// What came after the last entry is not known, so its silence proves nothing.
		h.Until = 0
		for _, e := range h.Entries {
			h.Until = max(h.Until, e.At, e.End())
		}
		return h, []string{"the end of the history is missing; it is judged as far as it goes"}, nil
	case w.ctx.Err() != nil:
		return h, nil, w.ctx.Err()
	case err != nil:
		return h, nil, fmt.Errorf("%s: %w", file, err)
	default:
		return h, nil, nil
	}
}

// recordedAs stands where a report names a scenario.
const recordedAs = "recorded"

func judgeHistory(file string, c *assert.Contract, only []string, h journal.History) report.Report {
	run := &assert.Run{Began: h.Began, Lost: h.Lost, Until: h.Until}
	key := c.Key()
	key.Horizon, key.Run, key.InPlace = c.Horizon(), run, true
	calls := assert.Calls(h.Entries, key)
	levels := map[string]assert.Level{}
	for _, j := range c.Judges() {
		levels[j.Kind.ID] = j.Level
	}
	seen := report.Scenario{
		Name: recordedAs, Clients: clientsIn(h), Requests: len(h.Entries), Seconds: h.Until.Seconds(), Fired: firedIn(h),
	}
	seen.Count(calls)
	r := report.Report{
		Contract:  report.Contract{Name: c.Name, Profile: c.Profile},
		Clients:   []report.Client{{Name: "history " + file}},
		Waits:     report.WaitsOf(recordedAs, calls),
		Policy:    report.PolicyOf(calls),
		Scenarios: []report.Scenario{seen},
	}
	if slices.ContainsFunc(calls, func(c assert.Call) bool { return c.Confidence() < assert.Exact }) {
		r.Notes = append(r.Notes, fmt.Sprintf("%d requests make %d calls as far as can be told from what they have in common; a run of verify knows them exactly",
			len(h.Entries), len(calls)))
	}
	for _, result := range assert.Judge(c, only, calls) {
		r.Results = append(r.Results, report.NewResult(recordedAs, levels[result.Clause], result, calls))
	}
	if h.Lost > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("the history lacks %d entries or more, dropped or still going on when its writer was stopped, so nothing can be said to be absent", h.Lost))
	}
	return r
}

func clientsIn(h journal.History) int {
	seen := map[string]bool{}
	for _, e := range h.Entries {
		seen[e.Client] = true
	}
	return len(seen)
}

func firedIn(h journal.History) map[string]uint64 {
	fired := map[string]uint64{}
	for _, e := range h.Entries {
		if e.Rule != "" {
			fired[e.Rule]++
		}
	}
	return fired
}
