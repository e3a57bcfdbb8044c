package assert

import (
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// Step says what an attempt is to those before it in its call.
type Step uint8

// The steps. All but retries are judged by clauses of their own: redirect-bound, auth-refresh-once, hedge-bounded, and all of them by client-rate.
const (
	StepFirst    Step = iota
	StepRetry         // sent because the one before failed, or seemed to
	StepRedirect      // follows a redirect
	StepReauth        // answers a 401 or 407 with other credentials
	StepResume        // asks for the rest of a download that broke off, further on than the one before
	StepHedge         // a copy sent while the one before is awaited still
)

var stepNames = [...]string{"first", "retry", "redirect", "reauth", "resume", "hedge"}

// String gives the word that reports use.
func (s Step) String() string { return stepNames[s] }

// Step tells what attempt i is (from 0).
func (c *Call) Step(i int) Step {
	switch {
	case i == 0:
		return StepFirst
	case c.hedge(i):
		return StepHedge
	case c.Attempts[i].Rare != nil && resumes(&c.Attempts[i-1], &c.Attempts[i]):
		return StepResume
	case infer.IsRetry(&c.Attempts[i-1], &c.Attempts[i]), c.redirectRetried(&c.Attempts[i-1], &c.Attempts[i]):
		return StepRetry
	case c.Attempts[i-1].Status < 400:
		return StepRedirect
	default:
		return StepReauth
	}
}

// aside reports whether attempt i came after no failure that the client waited out.
func (c *Call) aside(i int) bool {
	s := c.Step(i)
	return s == StepRedirect || s == StepReauth || s == StepHedge
}

const (
	mostHedges   = 2                      // copies beside an attempt; more are charged, agreed on or not
	cancelWithin = time.Second            // how soon the loser is cancelled when a copy has won
	togetherIs   = 100 * time.Millisecond // apart at most, what a client gives up at once
)

// hedge reports whether attempt i is a copy of one that the client goes on waiting for. A client whose timeout does not
// close the connection also sends while the first is open, but then the answer to that one means nothing to it. So
// there has to be a sign that both were awaited: when one of the two is answered the other is cancelled, or both are given
// up at once. Where the contract agrees on hedging no sign is wanted.
func (c *Call) hedge(i int) bool {
	e, beside, sign := &c.Attempts[i], 0, false
	if before := &c.Attempts[i-1]; !before.Open && endOf(before) <= e.At+overlap {
		return false
	}
	for j := i - 1; j >= max(0, i-1-mostHedges); j-- {
		other := &c.Attempts[j]
		if endOf(other) > e.At+overlap || other.Open {
			beside++
			sign = sign || settledTogether(other, e)
		}
	}
	return beside > 0 && (sign && beside <= mostHedges || beside <= c.hedges)
}

func settledTogether(a, b *journal.Entry) bool {
	if a.Gone > 0 && b.Gone > 0 {
		return (a.Gone - b.Gone).Abs() <= togetherIs
	}
	return cancelled(a, b) || cancelled(b, a)
}

// cancelled reports whether the client dropped one because the other had been answered.
func cancelled(loser, winner *journal.Entry) bool {
	late := loser.Gone - endOf(winner)
	return loser.Gone > 0 && winner.Delivered() && late >= -overlap && late <= cancelWithin
}

// withoutHedges gives the attempts that follow each other.
func (c *Call) withoutHedges() []journal.Entry {
	for i := 1; i < len(c.Attempts); i++ {
		if !c.hedge(i) {
			continue
		}
		kept := slices.Clone(c.Attempts[:i])
		for k := i + 1; k < len(c.Attempts); k++ {
			if !c.hedge(k) {
				kept = append(kept, c.Attempts[k])
			}
		}
		return kept
	}
	return c.Attempts
}
