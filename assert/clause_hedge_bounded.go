package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "hedge-bounded", Level: Major, Late: true,
		Summary: "Copies of a request that is under way are few, late and harmless, and end when one is answered.",
		Measure: "In each call, attempts that arrive while one before is open: not sooner than agreed behind the first of them, no more at a time than " +
			"agreed, only of requests that may be repeated, and open for no more than 1.25 s once one was answered, unless the canary's longest stall " +
			"explains it. And calls with a copy, of all: a share fails that the agreed one shows less than once in 10,000 runs.",
		Why: "A copy after the 95th percentile costs 5 % more load and takes the tail off. One that is sent too early, without a bound or without " +
			"cancelling the loser doubles the load, and most of all when the server is slow anyway.",
		Fix: "Take the time to wait from the latencies seen, not from a constant; let copies pass the retry budget; cancel the others when the first " +
			"answer is there; never copy what must not be done twice.",
		Source:  "Dean and Barroso 2013, The Tail at Scale; gRPC A6 2017 (hedging)",
		Samples: Samples{Calls: 320, Together: true},
		New: func(c *Contract) Clause {
			if c.Hedging == (Hedging{}) {
				return nil
			}
			return &HedgeBounded{Hedging: c.Hedging, SafeRoutes: c.Idempotency.SafeRoutes}
		},
	})
}

// hedgeCalls is how many calls say something about the share of copies.
const hedgeCalls = 100

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
		if c.Attempts[0].Call == "" && c.Attempts[0].Key == "" && c.Rule != driverRule {
			continue // a copy looks like a call of its own
		}
		known++
		if firstCopy(c) == 0 {
			t.keep(true)
			continue
		}
		hedged++
		won, late := longestLoser(c)
		switch what, badness := p.wrong(c); {
		case what != "":
			t.breach(c, badness, func() (string, []journal.Entry) { return named(c.Client) + " " + what, c.Attempts })
		case late > cancelWithin+lateFloor:
			t.late(c, lateness{won, won + late, late - cancelWithin, 1}, late.Seconds(), func() (string, []journal.Entry) {
				return fmt.Sprintf("%s let a copy go on for %s after another was answered; the contract allows %s", named(c.Client), span(late), span(cancelWithin)), c.Attempts
			})
		default:
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

// wrong says what is wrong with the copies of a call, however soon the others ended.
func (p HedgeBounded) wrong(c *Call) (what string, badness float64) {
	begins, ends := make([]time.Duration, len(c.Attempts)), make([]time.Duration, len(c.Attempts))
	for i := range c.Attempts {
		e := &c.Attempts[i]
		begins[i], ends[i] = e.At, openUntil(e, c.Run)-overlap
		if i == 0 || !copied(&c.Attempts[i-1], e) || i > 1 && copied(&c.Attempts[i-2], &c.Attempts[i-1]) {
			continue // no copy, or not the first of its request
		}
		first := &c.Attempts[i-1]
		if wait := e.At - first.At; wait < p.Hedging.After-c.Run.Noise.Early(p.Hedging.After) {
			return fmt.Sprintf("sent a copy %s after a request; the contract wants it to wait %s", span(wait), span(p.Hedging.After)), 1
		}
		if !mayRepeat(first, p.SafeRoutes) {
			return fmt.Sprintf("sent a copy of a %s, which must not be done twice", first.Method), 2
		}
	}
	if n := mostTogether(begins, ends); n > p.Hedging.Max {
		return fmt.Sprintf("had %d copies of a request under way at a time; the contract allows %d", n, p.Hedging.Max), float64(n)
	}
	return "", 0
}

// longestLoser is how long an attempt went on after the first one that succeeded, and when that one did.
func longestLoser(c *Call) (won, longest time.Duration) {
	won = maxTime
	for i := range c.Attempts {
		if succeeded(&c.Attempts[i]) {
			won = min(won, endOf(&c.Attempts[i]))
		}
	}
	for i := range c.Attempts {
		if c.Attempts[i].At < won {
			longest = max(longest, openUntil(&c.Attempts[i], c.Run)-won)
		}
	}
	return won, longest
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
