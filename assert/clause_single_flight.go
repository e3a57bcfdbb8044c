package assert

import (
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "single-flight", Level: Major,
		Summary: "The attempts of a call do not overlap: the next is sent only when the one before is over.",
		Measure: "In each call the time for which an attempt and an earlier one were open together: from the later arrival until the earlier was " +
			"answered, broken off, or the client was seen to leave it. More than 50 ms is an overlap, unless the canary's longest stall explains " +
			"it. A client that gives up on an attempt but leaves its connection open overlaps too: the server still works on it.",
		Why: "Two attempts at once are twice the load just when answers are slow, and a race where they write: the second finds the first's " +
			"work half done. An attempt that was given up but not closed holds a place in the server's queue for nobody.",
		Fix: "Cancel an attempt when its timeout fires (close the connection, reset the stream) and send the next after that. If copies are " +
			"meant (hedging), declare it in the contract, for reads only and with a budget.",
		Source: "gRPC A6 (a call is retried or hedged, not both), read in 2026; draft-ietf-httpapi-idempotency-key-header (409 for " +
			"concurrent requests with one key)",
		Late: true, Samples: Samples{Calls: 20},
		New: func(c *Contract) Clause {
			if c.Hedging != (Hedging{}) {
				return nil // copies are agreed on, and hedge-bounded counts them
			}
			return &SingleFlight{Quiet: quietOf(c)}
		},
	})
}

// SingleFlight promises that attempts of one call do not overlap.
type SingleFlight struct {
	Max   int           `yaml:"max" doc:"attempts of one call that may be open together; default 1"`
	Quiet time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

const (
	leastOverlap = 50 * time.Millisecond // a server notices a little late that a client left
	tempting     = time.Second           // an answer that takes so long tempts to send a copy
)

// ID names the clause.
func (p SingleFlight) ID() string { return "single-flight" }

// Validate finds parameters that make no sense.
func (p *SingleFlight) Validate(n strict.Node) {
	atLeast(n, "max", p.Max, 1)
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check measures overlaps.
func (p SingleFlight) Check(calls []Call) Result {
	p.Max = max(1, p.Max)
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	habit := p.habit(calls)
	for i := range calls {
		c := &calls[i]
		o, tested := p.longest(c)
		least := leastOverlap + c.Run.Noise.Resolution
		if !habit { // the machine may have told late of a client that left
			least = lateFloor + c.Run.Noise.Resolution
		}
		switch {
		case o.time > least:
			by := lateness{o.from, o.from + o.time, o.time, 1}
			t.late(c, by, float64(o.time), func() (string, []journal.Entry) {
				return p.text(c, o), []journal.Entry{c.Attempts[o.earlier], c.Attempts[o.later]}
			})
		case tested:
			t.keep(ends.over(c))
		}
	}
	return t.result("no attempt was sent while the one before was open", "no call had a second attempt, or an answer that took a second or more",
		ends.unsure("no attempt was sent while the one before was open"))
}

// habit reports whether half of the calls overlap, three at least: short overlaps of a few may be the machine's.
func (p SingleFlight) habit(calls []Call) bool {
	overlap, all := 0, 0
	for i := range calls {
		o, tested := p.longest(&calls[i])
		if tested {
			all++
		}
		if o.time > leastOverlap+calls[i].Run.Noise.Resolution {
			overlap++
		}
	}
	return overlap >= 3 && 2*overlap >= all
}

// sharedTime is the time for which too many attempts were open.
type sharedTime struct {
	earlier, later int // attempts
	from, time     time.Duration
}

// flight is an attempt that may be open still.
type flight struct {
	attempt int
	until   time.Duration
}

// longest finds the longest time for which more attempts than allowed were open. tested reports whether the call gave
// reason to send one too many.
func (p SingleFlight) longest(c *Call) (worst sharedTime, tested bool) {
	var open []flight // the Max earlier attempts that stay open the longest, the first to end in front
	tested = len(c.Attempts) > 1
	for i := range c.Attempts {
		e := &c.Attempts[i]
		if len(open) == p.Max {
			if both := min(open[0].until, openUntil(e, c.Run)) - e.At; both > worst.time {
				worst = sharedTime{open[0].attempt, i, e.At, both}
			}
		}
		f := flight{i, openUntil(e, c.Run)}
		tested = tested || f.until-e.At >= tempting
		if e.Early {
			continue // whoever leaves before the body was read goes unnoticed
		}
		at, _ := slices.BinarySearchFunc(open, f, func(a, b flight) int { return int(min(1, max(-1, a.until-b.until))) })
		open = slices.Insert(open, at, f)
		if len(open) > p.Max {
			open = slices.Delete(open, 0, 1)
		}
	}
	return worst, tested
}

// openUntil is when an attempt ended, or until when it was seen to be open.
func openUntil(e *journal.Entry, run *Run) time.Duration {
	if e.Open && e.Gone == 0 {
		return max(e.At, run.Until)
	}
	return endOf(e)
}

func (p SingleFlight) text(c *Call, o sharedTime) string {
	allowed := "one at a time"
	if p.Max > 1 {
		allowed = fmt.Sprintf("%d at a time", p.Max)
	}
	text := fmt.Sprintf("attempt %d was sent while attempt %d was open, and both stayed so for %s; the contract says %s", o.later+1, o.earlier+1, span(o.time), allowed)
	if e := &c.Attempts[o.earlier]; !e.Delivered() && e.Gone == 0 {
		text += " (was it given up without closing its connection?)"
	}
	return text
}
