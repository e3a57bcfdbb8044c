package interop

import (
	"context"
	"os/exec"
	"regexp"
	"slices"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// Exam is what a client is put through.
type Exam struct {
	Cases  []Case        // on the wire
	Whole  bool          // the strict contract judges it too, in all scenarios that suit it
	Memory bool          // in virtual time, which takes a bubble
	Worker driver.Client // that the contract judges in place of the client for GET; nil: none
}

// Examine puts a client through an exam. driven makes the client for requests with a method.
func (c Client) Examine(ctx context.Context, driven func(method string) driver.Client, e Exam) (Result, error) {
	r := Result{Language: c.Language, Client: c.ID, Version: c.version(ctx)}
	all, calls, err := Probe(ctx, driven, e.Cases, e.Memory)
	if err != nil {
		return r, err
	}
	if doubtful := c.doubtful(all); len(doubtful) > 0 && !e.Memory {
		again, _, err := Probe(ctx, driven, doubtful, false)
		if err != nil {
			return r, err
		}
		all = replaced(all, again)
	}
	r.Seen = all
	r.Differences = c.Differ(r.Seen)
	r.Policy = assert.Inferred(calls).Sentence()
	if !e.Whole || c.Unjudged != "" {
		return r, nil
	}
	request := contract.Request{Client: driven("GET"), Seed: 1, FailOn: assert.Major, Memory: e.Memory}
	if e.Worker != nil {
		request.Scenarios = single(request.Client)
		request.Client = e.Worker
	}
	judged, err := contract.Examine(ctx, request)
	if err != nil {
		return r, err
	}
	r.Report = &judged
	r.Differences = append(r.Differences, c.Contract.Differences(judged, e.Memory)...)
	return r, nil
}

// single are the scenarios for a client that makes one call. A worker is put through no others: its requests do not say which
// call they belong to. Nor is it put through those whose caller cancels: a signal ends each of twenty processes, which says nothing
// of the library in them.
func single(client driver.Client) []scenarios.Scenario {
	suit, _ := contract.Default(client, assert.Strict(), false)
	return slices.DeleteFunc(suit, func(s scenarios.Scenario) bool { return !s.Work.IsZero() || s.Cancel != nil })
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)+`)

// version is what is run: the pinned one, or what the program says of itself.
func (c Client) version(ctx context.Context) string {
	if len(c.VersionOf) == 0 {
		return c.Version
	}
	out, err := exec.CommandContext(ctx, c.VersionOf[0], c.VersionOf[1:]...).Output()
	if err != nil {
		return "unknown"
	}
	return number.FindString(string(out))
}
