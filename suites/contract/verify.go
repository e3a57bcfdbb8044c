package contract

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/gomega"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/suites/driver"
)

// Verify runs the specs of Specs in this process, whatever binary it is, and reports what they found. Ginkgo allows one
// such run in a process. The error tells of a wrong request, never of a client.
func Verify(ctx context.Context, req Request) (report.Report, error) {
	return examine(ctx, req, func(s *session) {
		s.register(req.Client.Name())
		runQuietly(req.JUnit)
	})
}

// Examine judges the client as Verify does, without Ginkgo, as often as one likes.
func Examine(ctx context.Context, req Request) (report.Report, error) {
	return examine(ctx, req, (*session).start)
}

func examine(ctx context.Context, req Request, run func(*session)) (report.Report, error) {
	s, err := newSession(req)
	if err != nil {
		return report.Report{}, err
	}
	defer s.stop()
	defer context.AfterFunc(ctx, s.stop)()
	run(s)
	return s.report(), errors.Join(ctx.Err(), s.keepJournals())
}

// keepJournals writes each scenario's history where the request wants them, of an interrupted run as far as it came.
func (s *session) keepJournals() error {
	if s.Journals == "" {
		return nil
	}
	var errs []error
	for _, r := range s.runs {
		if len(r.clauses) == 0 {
			continue
		}
		if o := r.out.get(); o.Outcome != nil && (len(o.Ends) > 0 || len(o.History.Entries) > 0) {
			errs = append(errs, keep(filepath.Join(s.Journals, r.scenario.Name+".jsonl"), o.History))
		}
	}
	return errors.Join(errs...)
}

func keep(file string, h journal.History) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(journal.Write(f, h), f.Close())
}

// runQuietly runs all registered specs. Ginkgo's own console reporter is silenced: the report says it better.
func runQuietly(junit string) {
	formatter.ColorableStdOut, formatter.ColorableStdErr = io.Discard, io.Discard
	suite, reporting := ginkgo.GinkgoConfiguration()
	reporting.JUnitReport = junit
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(&quiet{}, "retrygate verify", suite, reporting)
}

// quiet stands in for testing.T: the verdict is taken from the results, not from whether some spec failed.
type quiet struct{}

func (*quiet) Fail() {}

func (s *session) report() report.Report {
	r := report.Report{
		Seed: s.Seed, FailOn: s.FailOn,
		Contract: report.Contract{Name: s.Contract.Name, Profile: s.Contract.Profile},
		Clients:  []report.Client{{Name: s.Client.Name(), Command: driver.Argv(s.Client)}},
	}
	if look := s.final(); look.err != nil {
		r.Errors = append(r.Errors, look.err.Error())
	} else {
		r.Notes = slices.Concat(look.Notes, s.leftOut)
		for _, note := range []string{look.note, s.idled()} {
			if note != "" {
				r.Notes = append(r.Notes, note)
			}
		}
		if look.speeds[0] > 1 {
			r.Speed = look.speeds[0]
		}
		var calls []assert.Call
		told := s.told(look.paces)
		for i, run := range s.runs {
			if len(run.clauses) > 0 {
				run.addTo(&r, told[i].waits)
				calls = append(calls, told[i].policy...)
			}
		}
		r.Policy = report.PolicyOf(calls)
	}
	if slower := s.slower(); slower != "" {
		r.Notes = append(r.Notes, slower)
	}
	r.Accept(s.Known, s.Today)
	r.Conclude()
	return r
}

// addTo adds what came of a run to a report, and what is told of its waits.
func (run *run) addTo(r *report.Report, waits []assert.Call) {
	name, o := run.scenario.Name, run.out.get()
	if o.err != nil {
		r.Errors = append(r.Errors, name+": "+o.err.Error())
		return
	}
	if len(o.Ends) > 0 { // it ran
		ran := report.Scenario{
			Name: name, Clients: len(o.Ends), Requests: len(o.History.Entries), Seconds: o.Took.Seconds(),
			Fired: o.Fired, Notes: o.Notes,
		}
		ran.Count(o.calls)
		r.Scenarios = append(r.Scenarios, ran)
	}
	for _, end := range o.Ends {
		if end.Silent {
			r.Errors = append(r.Errors, name+": "+end.Message)
		}
	}
	for _, j := range run.clauses {
		res, calls := o.of(j.Kind.ID)
		r.Results = append(r.Results, report.NewResult(name, j.Level, res, calls))
	}
	r.Waits = append(r.Waits, report.WaitsOf(name, timed(waits))...)
}
