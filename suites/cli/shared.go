package cli

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// enoughUsers is how often the same has to be asked for soon after a success before it is no accident.
const enoughUsers = 2

// excuse makes a breach undecided where several users may stand behind one address: what was asked for after a failure was
// asked for as soon after successes, where nobody has a reason to repeat it.
func excuse(res assert.Result, entries []journal.Entry, resolution time.Duration) assert.Result {
	n := len(res.Witness)
	kind, _ := assert.Kinds.Get(res.Clause)
	if res.Verdict != assert.Fail || kind.Counts || n < 2 { // what comes from an address counts, whoever sends it
		return res
	}
	last := &res.Witness[n-1]
	if last.Call != "" || last.Key != "" {
		return res
	}
	soon := resolution
	for i := range n - 1 {
		soon = max(soon, res.Witness[i+1].At-res.Witness[i].End())
	}
	if times := afterSuccess(last, entries, soon); times >= enoughUsers {
		res.Verdict, res.Witness = assert.Inconclusive, nil
		res.Detail += fmt.Sprintf("; but %s was asked for as soon after a success, %d times, so several users may stand behind %s: "+
			"--log-client header:NAME tells them apart by what else the log has", last.Request(), times, last.Client)
	}
	return res
}

// afterSuccess counts how often a client asked for the same again so soon after it had been served.
func afterSuccess(e *journal.Entry, entries []journal.Entry, soon time.Duration) (times int) {
	var served time.Duration = -1
	for i := range entries {
		other := &entries[i]
		if other.Client != e.Client || other.Method != e.Method || other.Path != e.Path || other.Query != e.Query {
			continue
		}
		if served >= 0 && other.At-served <= soon {
			times++
		}
		served = -1
		if assert.Succeeded(*other) {
			served = other.End()
		}
	}
	return times
}
