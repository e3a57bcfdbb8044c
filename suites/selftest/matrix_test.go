// Package selftest proves the judges by clients whose behaviour is known: every reference client is put through every
// scenario in virtual time, and must break exactly the clauses that it was made to break.
package selftest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
	"github.com/retrygate/retrygate/faultserver/devca"
	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/clients"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// examine judges a reference client by the strict contract in virtual time, in the named scenarios or in all; in those of TLS
// over TLS.
func examine(t *testing.T, c clients.Client, names ...string) report.Report {
	t.Helper()
	var only, secure []scenarios.Scenario
	for _, sc := range scenarios.All() {
		switch named := slices.Contains(names, sc.Name); {
		case sc.Plan().NeedsTLS() && (named || names == nil):
			secure = append(secure, sc)
		case named:
			only = append(only, sc)
		}
	}
	if len(only)+len(secure) < len(names) {
		t.Fatalf("not all of these are scenarios: %v", names)
	}
	client := driver.HTTPWorker(c.Name, c.New)
	if c.HTTP2 {
		client = driver.HTTP2Worker(c.Name, c.New)
	}
	request := contract.Request{
		Client: client, Contract: contractOf(t, c), Scenarios: only, Seed: 1, Memory: true, Limit: 10 * time.Minute, FailOn: assert.Advisory,
	}
	var r report.Report
	run := func(request contract.Request) {
		one, err := contract.Examine(context.Background(), request)
		if err != nil {
			t.Fatal(err)
		}
		r.Results, r.Errors = append(r.Results, one.Results...), append(r.Errors, one.Errors...)
	}
	synctest.Test(t, func(t *testing.T) {
		if len(only) > 0 || names == nil {
			run(request)
		}
		if request.Scenarios = secure; len(secure) > 0 && request.Contract.Poll.Every == 0 {
			ca, err := devca.New() // its certificates begin in the virtual now
			if err != nil {
				t.Fatal(err)
			}
			request.CA = ca
			run(request)
		}
	})
	return r
}

// contractOf is what a reference client is judged by.
func contractOf(t *testing.T, c clients.Client) *assert.Contract {
	t.Helper()
	if c.Contract == "" {
		return assert.Strict()
	}
	agreed, err := assert.LoadContract(c.Name+".yaml", []byte(c.Contract))
	if err != nil {
		t.Fatal(err)
	}
	return agreed
}

// byVerdict lists the clauses that have a verdict in some scenario, with the scenarios and the reasons.
func byVerdict(r report.Report, v assert.Verdict) map[string][]string {
	found := map[string][]string{}
	for _, x := range r.Results {
		if x.Verdict == v {
			found[x.Clause] = append(found[x.Clause], x.Scenario+": "+x.Detail)
		}
	}
	return found
}

func TestReferenceClientsBreakWhatTheyWereMadeToBreak(t *testing.T) {
	var mu sync.Mutex
	failed, passed := map[string]bool{}, map[string]bool{} // clauses, over all clients
	t.Run("client", func(t *testing.T) {
		for _, c := range clients.All.All() {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				r := examine(t, c)
				compare(t, c, r)
				mu.Lock()
				defer mu.Unlock()
				maps.Copy(failed, setOf(byVerdict(r, assert.Fail)))
				maps.Copy(passed, setOf(byVerdict(r, assert.Pass)))
			})
		}
	})
	for _, kind := range assert.Kinds.All() {
		if _, ok := optional[kind.ID]; ok {
			continue
		}
		if !failed[kind.ID] || !passed[kind.ID] {
			t.Errorf("%s: fails some client: %v, passes some client: %v", kind.ID, failed[kind.ID], passed[kind.ID])
		}
	}
}

// compare holds a report to what the client was made to break: nothing else, and nothing less.
func compare(t *testing.T, c clients.Client, r report.Report) {
	t.Helper()
	for _, e := range r.Errors {
		t.Errorf("not judged: %s", e)
	}
	broken := byVerdict(r, assert.Fail)
	for _, id := range slices.Sorted(maps.Keys(broken)) {
		if !slices.Contains(c.Breaks, id) {
			t.Errorf("false alarm: %s\n  %s", id, strings.Join(broken[id], "\n  "))
		}
	}
	for _, id := range c.Breaks {
		if broken[id] == nil {
			t.Errorf("missed: %s\n  %s", id, strings.Join(slices.Concat(byVerdict(r, assert.Pass)[id],
				byVerdict(r, assert.Inconclusive)[id], byVerdict(r, assert.NotExercised)[id]), "\n  "))
		}
	}
}

func setOf(m map[string][]string) map[string]bool {
	set := map[string]bool{}
	for id := range m {
		set[id] = true
	}
	return set
}
