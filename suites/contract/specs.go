// Package contract is the retry contract as Ginkgo specs: one container for each scenario, one spec for each clause that
// the scenario puts to the test. Specs adds them to anyone's suite; Verify runs the very same specs in any binary.
package contract

import (
	"fmt"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/suites/driver"
)

// Specs registers the contract for one client; call it at the top level of a test file:
//
//	var _ = contract.Specs("mobile client", driver.Func("report", func(ctx context.Context, url string) error { ... }))
//
// A kept clause passes, a broken one fails with its evidence. Whatever proves nothing (inconclusive, not exercised) and a
// breach below the level of FailOn is a skip with its reason, never a pass. The result is always true.
func Specs(name string, client driver.Client, options ...Option) bool {
	req := Request{Client: client, Seed: 1, FailOn: assert.Major}
	for _, o := range options {
		o(&req)
	}
	s, err := newSession(req)
	if err != nil {
		panic("contract.Specs: " + err.Error())
	}
	return s.register(name)
}

func (s *session) register(name string) bool {
	return ginkgo.Describe(name, func() {
		ginkgo.It("sends a request to a healthy server and ends", func(ctx ginkgo.SpecContext) {
			s.await(ctx, s.look.start())
			if err := s.look.get().err; err != nil {
				ginkgo.Fail(err.Error())
			}
		})
		for _, r := range s.runs {
			s.describe(r)
		}
	})
}

// describe is Ordered so that parallel Ginkgo processes share out scenarios, not single clauses of one.
func (s *session) describe(r *run) {
	ginkgo.Describe(r.scenario.Name, ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		for _, j := range r.clauses {
			ginkgo.It(fmt.Sprintf("keeps %s (%s)", j.Kind.ID, j.Level), ginkgo.Label(j.Kind.ID, j.Level.String()),
				func(ctx ginkgo.SpecContext) {
					s.begin()
					s.await(ctx, r.out.start())
					s.conclude(r.scenario.Name, j, r.out.get())
				})
		}
	})
}

// begin starts all scenarios side by side when this process is to run all of them anyway.
func (s *session) begin() {
	cfg, _ := ginkgo.GinkgoConfiguration()
	narrowed := len(cfg.FocusStrings)+len(cfg.SkipStrings)+len(cfg.FocusFiles)+len(cfg.SkipFiles) > 0 || cfg.LabelFilter != ""
	if cfg.ParallelTotal == 1 && !narrowed {
		s.once.Do(s.start)
	}
}

// await waits for work that specs share. An interrupted spec stops the whole session, and with it the clients.
func (s *session) await(ctx ginkgo.SpecContext, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
		s.stop()
		<-done
	}
}

func (s *session) conclude(scenario string, j assert.Judged, o *outcome) {
	if o.err != nil {
		ginkgo.Skip("not judged: " + o.err.Error())
	}
	res, calls := o.of(j.Kind.ID)
	known, accepted := s.Known.Accepts(s.Client.Name(), scenario, j.Kind.ID, s.Today)
	switch {
	case res.Verdict == assert.Pass:
	case res.Verdict == assert.Fail && accepted:
		ginkgo.Skip(fmt.Sprintf("known, and accepted until %s (%s): %s", known.Until(), known.Reason, res.Detail))
	case res.Verdict == assert.Fail && j.Level >= s.FailOn:
		gomega.Expect(calls).To(assert.Keep(j.Clause))
	case res.Verdict == assert.Fail:
		ginkgo.Skip(fmt.Sprintf("broken at level %s, which only warns: %s", j.Level, res.Detail))
	default:
		ginkgo.Skip(fmt.Sprintf("%s: %s", res.Verdict, res.Detail))
	}
}
