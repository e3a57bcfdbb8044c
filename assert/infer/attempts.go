package infer

import (
	"fmt"
	"slices"
	"time"
)

// Attempts says how often a call is tried.
type Attempts struct {
	Max        int     `json:"max"`     // the first one included; 0: not known
	Decided    bool    `json:"decided"` // calls ended after so many, and none took more
	Confidence float64 `json:"confidence"`
	Seen       int     `json:"seen"`                // most of one call
	Ended      int     `json:"ended"`               // calls that ended with a failure, by the client's own choice
	Endless    bool    `json:"endless,omitempty"`   // no end was seen after many
	Within     *Range  `json:"within_ms,omitempty"` // time after which calls end, where that and no count ends them
	Needs      string  `json:"needs,omitempty"`
}

// stopping counts the calls whose last attempt failed in a way that is retried, and gives the number of attempts that all of them took; 0 if they differ.
func stopping(calls []Call, retried map[string]bool) (n, same int) {
	for i := range calls {
		if last := calls[i].last(); !last.Failed || len(retried) > 0 && !retried[last.Answer] {
			continue
		}
		if tries := calls[i].tries(); n == 0 {
			same = tries
		} else if tries != same {
			same = 0
		}
		n++
	}
	return n, same
}

// many attempts without an end look as if there were none.
const many = 50

// attemptsOf reads the bound from calls that the client gave up.
func attemptsOf(calls []Call) Attempts {
	var a Attempts
	var ended []int
	retried := retriedAnswers(calls)
	for i := range calls {
		c := &calls[i]
		a.Seen = max(a.Seen, c.tries())
		if c.gaveUp() && (retried[c.last().Answer] || len(retried) == 0) {
			ended = append(ended, c.tries())
		}
	}
	a.Ended = len(ended)
	a.Endless = a.Ended == 0 && a.Seen >= many
	if a.Ended == 0 && a.Seen < many {
		if n, same := stopping(calls, retried); n >= leastCalls && same == a.Seen {
			a.Max, a.Confidence = same, 0.5
			a.Needs = fmt.Sprintf("all %d calls that failed stopped there, but the watch ended too soon behind the last; a longer one would decide", n)
			return a
		}
	}
	if a.Ended == 0 {
		if a.Needs = "calls that fail until the client gives up would show how often it tries"; a.Endless {
			a.Needs = "a longer watch would show whether it ever stops"
		}
		return a
	}
	a.Max = slices.Max(ended)
	if within := timeBound(calls, retried, ended); within != nil {
		a.Within, a.Max, a.Decided, a.Confidence = within, 0, true, agreeing(len(ended))
		return a
	}
	full := 0
	for _, n := range ended {
		if n == a.Max {
			full++
		}
	}
	// Calls that end sooner have a reason of their own: an answer that allows fewer, a deadline, a budget.
	a.Confidence = agreeing(full)
	least := min(leastCalls, len(ended))
	if a.Max >= many { // whoever watched may have stopped it
		least = leastCalls
	}
	a.Decided = a.Seen <= a.Max && full >= least
	if !a.Decided {
		a.Needs = "more calls that fail until the client gives up would decide"
	}
	return a
}

// retriedAnswers are the answers after which any call was tried again.
func retriedAnswers(calls []Call) map[string]bool {
	retried := map[string]bool{}
	for i := range calls {
		for k, a := range calls[i].Attempts {
			if k > 0 && a.Retry {
				retried[calls[i].Attempts[k-1].Answer] = true
			}
		}
	}
	return retried
}

// timeBound finds calls that end by the clock: their counts differ, and the time that they took hardly does. The next wait
// would have been too long, so that the bound lies between the time taken and that with one more wait.
func timeBound(calls []Call, retried map[string]bool, ended []int) *Range {
	if len(ended) < leastCalls || slices.Max(ended)-slices.Min(ended) < 2 {
		return nil
	}
	var took []time.Duration
	var wait time.Duration
	for i := range calls {
		c := &calls[i]
		if !c.gaveUp() || !retried[c.last().Answer] || c.tries() < 2 {
			continue
		}
		took = append(took, c.last().End-c.Attempts[0].At)
		wait = max(wait, c.wait(len(c.Attempts)-1))
	}
	if len(took) < leastCalls || len(took) < len(ended) {
		return nil
	}
	least, most := slices.Min(took), slices.Max(took)
	if float64(least) < 0.8*float64(most) && least+2*wait < most {
		return nil
	}
	low, high := most.Seconds(), (most + wait).Seconds()
	return &Range{ms(roundBetween(low, low, high)), ms(low), ms(high)}
}
