package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "hedge-bounded", Level: Major,
		Summary: "Copies of a request that is under way are few, late and harmless, and end when one is answered.",
		Measure: "In each call, attempts that arrive while one before is open: not sooner than agreed behind the first of them, no more at a time than " +
			"agreed, only of requests that may be repeated, and open for no more than a second once one was answered. And calls with a copy, of " +
			"all: more than the agreed share could show with a chance of 1 in 10,000.",
		Why: "A copy after the 95th percentile costs 5 % more load and takes the tail off. One that is sent too early, without a bound or without " +
			"cancelling the loser doubles the load, and most of all when the server is slow anyway.",
		Fix: "Take the time to wait from the latencies seen, not from a constant; let copies pass the retry budget; cancel the others when the first " +
			"answer is there; never copy what must not be done twice.",
		Source:  "Dean and Barroso 2013, The Tail at Scale; gRPC A6 2017 (hedging)",
		Samples: Samples{Calls: 360},
		New: func(c *Contract) Clause {
			if c.Hedging == (Hedging{}) {
				return nil
			}
			return &HedgeBounded{Hedging: c.Hedging, SafeRoutes: c.Idempotency.SafeRoutes}
		},
	})
}

const (
	hedgeCalls = 100         // calls below that say nothing about the share of copies
	loserEnd   = time.Second // how long a loser may go on
)

// HedgeBounded promises bounds on copies of requests that are under way.
type HedgeBounded struct {
	Hedging    Hedging  `yaml:"-"` // as agreed
	SafeRoutes []string `yaml:"-"` // routes that may be repeated without a key
}

// ID names the clause.
func (p HedgeBounded) ID() string { return "hedge-bounded" }

// Check looks at attempts that overlap.
func (p HedgeBounded) Check(calls []Call) Result {
	t, hedged, known := tally{id: p.ID()}, 0, 0
	for i := range calls {
		c := &calls[i]
		if c.Attempts[0].Call == "" && c.Attempts[0].Key == "" && c.Rule != "driver" {
			continue // a copy looks like a call of its own
		}
		known++
		at := firstCopy(c)
		if at == 0 {
			t.keep(true)
			continue
		}
		hedged++
		if what, badness := p.wrong(c, at); what != "" {
			t.breach(c, badness, func() (string, []journal.Entry) { return named(c.Client) + " " + what, c.Attempts })
		} else {
			t.keep(true)
		}
	}
	if t.broken == 0 && known >= hedgeCalls && infer.Tail(known, hedged, p.Hedging.Share) < hedgeAlpha {
		return p.tooMany(calls, known, hedged)
	}
	r := t.result(fmt.Sprintf("%d of %d calls had a copy, each of them as agreed", hedged, known), "no request says which call it belongs to", "")
	switch {
	case r.Verdict != Pass:
	case hedged == 0:
		r.Verdict, r.Detail = NotExercised, "no call had a copy"
	case known < hedgeCalls:
		r.Verdict, r.Detail = Inconclusive, fmt.Sprintf("%s are too few to know the share of copies; %d would tell", plural(known, "call"), 360)
	}
	return r
}

// firstCopy is the first attempt that arrived while the one before was open; 0 if none did.
func firstCopy(c *Call) int {
	for i := range c.Attempts[1:] {
		if copied(&c.Attempts[i], &c.Attempts[i+1]) {
			return i + 1
		}
	}
	return 0
}

// copied reports whether next was sent while e was under way. A client that leaves an attempt and then sends the next is
// not seen to leave at once.
func copied(e, next *journal.Entry) bool {
	return (e.Open && e.Gone == 0) || next.At < endOf(e)-overlap
}

// wrong says what is wrong with the copies of a call, the first of which is attempt at.
func (p HedgeBounded) wrong(c *Call, at int) (what string, badness float64) {
	first, second := &c.Attempts[at-1], &c.Attempts[at]
	if wait := second.At - first.At; wait < p.Hedging.After-Early(p.Hedging.After) {
		return fmt.Sprintf("sent a copy %s after a request; the contract wants it to wait %s", span(wait), span(p.Hedging.After)), 1
	}
	if !idempotentMethod(first.Method) && first.Key == "" && !first.Precondition && !safeRoute(p.SafeRoutes, first) {
		return fmt.Sprintf("sent a copy of a %s, which must not be done twice", first.Method), 2
	}
	if n := together(c.Attempts); n > p.Hedging.Max {
		return fmt.Sprintf("had %d copies of a request under way at a time; the contract allows %d", n, p.Hedging.Max), float64(n)
	}
	if late := longestLoser(c); late > loserEnd+lateFloor {
		return fmt.Sprintf("let a copy go on for %s after another was answered; the contract allows %s", span(late), span(loserEnd)), late.Seconds()
	}
	return "", 0
}

// longestLoser is how long an attempt went on after the first one that succeeded.
func longestLoser(c *Call) (longest time.Duration) {
	won := maxTime
	for i := range c.Attempts {
		if succeeded(&c.Attempts[i]) {
			won = min(won, endOf(&c.Attempts[i]))
		}
	}
	for i := range c.Attempts {
		if c.Attempts[i].At < won {
			longest = max(longest, lastsUntil(&c.Attempts[i], c.Run)-won)
		}
	}
	return longest
}

func lastsUntil(e *journal.Entry, run *Run) time.Duration {
	if e.Open && e.Gone == 0 {
		return run.Until
	}
	return endOf(e)
}

// together is the largest number of attempts that were under way at a time.
func together(attempts []journal.Entry) int {
	most := 0
	for i := range attempts {
		n := 1
		for k := range attempts[:i] {
			if copied(&attempts[k], &attempts[i]) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func (p HedgeBounded) tooMany(calls []Call, known, hedged int) Result {
	r := Result{Clause: p.ID(), Verdict: Fail}
	r.Detail = fmt.Sprintf("%d of %d calls had a copy (%.0f %%); the contract allows %v %%", hedged, known, 100*float64(hedged)/float64(known),
		100*p.Hedging.Share)
	for i := range calls {
		if at := firstCopy(&calls[i]); at > 0 && len(r.Witness) < mostWitnesses {
			r.Witness = append(r.Witness, calls[i].Attempts[at-1], calls[i].Attempts[at])
		}
	}
	return r
}
