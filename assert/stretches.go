package assert

import (
	"slices"

	"github.com/retrygate/retrygate/faultserver/journal"
)

// mostAtOnce is how many entries are unpacked at a time: about 40 MB. That is beyond what any statistics of waits need.
const mostAtOnce = 150_000

// JudgeJournal is Judge on all that a journal keeps, grouped into calls by key (Key.Run may be nil). A large journal is judged
// some clients at a time, so that most of it stays packed. A clause then has the verdict of all its clients together: one
// breach breaks it, one doubt leaves it open.
func JudgeJournal(c *Contract, ids []string, j *journal.Journal, key Key) []Result {
	return judgeInStretches(c, ids, j, key, mostAtOnce)
}

func judgeInStretches(c *Contract, ids []string, j *journal.Journal, key Key, most int) []Result {
	if key.Table == nil {
		key.Table = c.Responses
	}
	var results []Result
	for h := range j.Stretches(most) {
		part := Judge(c, ids, callsOf(h, key))
		if results == nil {
			results = part
			continue
		}
		for i := range results {
			results[i] = worse(results[i], part[i])
		}
	}
	return results
}

// callsOf groups what was read of a journal, and nobody else has.
func callsOf(h journal.History, key Key) []Call {
	key.InPlace = true
	if key.Run == nil {
		key.Run = &Run{Began: h.Began, Lost: h.Lost, Until: h.Until}
	}
	return Calls(h.Entries, key)
}

// worse is what a clause says of two sets of clients: the more telling of the two.
func worse(a, b Result) Result {
	if telling(b) > telling(a) {
		return b
	}
	return a
}

// telling orders results as one of all calls together would: a breach before a doubt, a doubt before what was kept, and that
// before what was not seen to its end.
func telling(r Result) int {
	order := []Verdict{NotExercised, Inconclusive, Pass, Fail}
	at := 2 * slices.Index(order, r.Verdict)
	if r.Verdict == Inconclusive && r.doubt {
		at = 2*slices.Index(order, Pass) + 1
	}
	return at
}
