package assert

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Judges lists the clauses that the contract switches on, in the order of their ids.
func (c *Contract) Judges() []Judged {
	c = c.finished()
	var on []Judged
	for _, kind := range Kinds.All() {
		setting := c.Clauses[kind.ID]
		if setting.Off {
			continue
		}
		clause := kind.of(c)
		if clause == nil {
			continue
		}
		setting.apply(clause)
		level := kind.Level
		if setting.Level != nil {
			level = *setting.Level
		}
		on = append(on, Judged{kind, clause, level})
	}
	return on
}

// Judge checks the calls against the contract: one result for each of the ids, in the order of Judges. No ids means every
// clause that the contract switches on; an id that it does not switch on comes back last, as not exercised.
func Judge(c *Contract, ids []string, calls []Call) []Result {
	asked := slices.Clone(ids)
	judges := slices.DeleteFunc(c.Judges(), func(j Judged) bool {
		asked = slices.DeleteFunc(asked, func(id string) bool { return id == j.Kind.ID })
		return len(ids) > 0 && !slices.Contains(ids, j.Kind.ID)
	})
	judged := make([]Result, len(judges))
	var all sync.WaitGroup // clauses are pure, so they need not wait for each other
	var next atomic.Int32
	for range min(runtime.GOMAXPROCS(0), len(judges)) { // no more at a time: some take memory for each attempt
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(judges); i = int(next.Add(1)) - 1 {
				judged[i] = check(judges[i].Clause, calls)
			}
		})
	}
	all.Wait()
	results := slices.Clip(judged)
	for _, id := range asked {
		detail := "The contract does not ask for this clause."
		if _, err := Kinds.Get(id); err != nil {
			detail = err.Error()
		}
		results = append(results, Result{Clause: id, Detail: detail})
	}
	return results
}

// check runs a clause and takes back what the history cannot bear out.
func check(clause Clause, calls []Call) Result {
	kind, _ := Kinds.Get(clause.ID()) // of a clause of the user's own nothing is known
	if !kind.Bare {
		calls = withRequests(calls)
	}
	r := clause.Check(calls)
	r.Clause = clause.ID()
	r = tooCoarse(r, kind, calls)
	if lost := lostIn(calls); lost > 0 && r.Verdict == Pass && !kind.Shown {
		r.Verdict, r.doubt = Inconclusive, true
		r.Detail = fmt.Sprintf("The journal dropped %d older entries, and what it dropped cannot be ruled out. Otherwise: %s", lost, r.Detail)
	}
	return r
}

func lostIn(calls []Call) uint64 {
	var lost uint64
	var last *Run
	for i := range calls {
		if run := calls[i].Run; run != nil && run != last {
			lost, last = max(lost, run.Lost), run
		}
	}
	return lost
}
