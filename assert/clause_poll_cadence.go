package assert

import (
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
)

func init() {
	register(Kind{
		ID: "poll-cadence", Level: Major, Late: true, Counts: true,
		Summary: "A client that polls keeps its interval when requests fail, and does not catch up on what it missed.",
		Measure: "For each client and endpoint, from one request to the next: the median behind failed requests is at least 95 % of the agreed interval, " +
			"and no wait at all is below half of it, where the canary's longest stall does not explain it. As many retries of one request as the " +
			"contract allows are left out, unless they come at the same pace throughout.",
		Why: "Pollers never stop, and they are many. One that asks more often when it gets no answer multiplies the load of an outage by itself, and one " +
			"that catches up sends all it missed at the moment of recovery.",
		Fix: "Start the wait when the answer has come or the request has failed, not on a ticker that keeps its missed ticks; let failures make the wait " +
			"longer, never shorter; draw a part of it at random so that clients do not fall into step.",
		Source:  "Builders' Library 2019, Timeouts, retries, and backoff with jitter (jitter all periodic work); RFC 9110 10.2.3 (2022)",
		Samples: Samples{Calls: 200},
		New: func(c *Contract) Clause {
			if c.Poll == (Poll{}) {
				return nil
			}
			return &PollCadence{Every: c.Poll.Every, Retries: max(0, c.Attempts.Max-1)}
		},
	})
}

// leastPolls is how many waits behind failed requests tell how often a client polls then.
const leastPolls = 5

// PollCadence promises that a poller does not ask more often when it fails.
type PollCadence struct {
	Every   time.Duration `yaml:"-"` // the agreed interval; 0: one minute
	Retries int           `yaml:"-"` // of one request, which are no polls
}

// ID names the clause.
func (p PollCadence) ID() string { return "poll-cadence" }

// Check measures from request to request.
func (p PollCadence) Check(calls []Call) Result {
	if p.Every <= 0 {
		p.Every = time.Minute
	}
	r := Result{Clause: p.ID()}
	var endpoints numbering[endpoint]
	polled, failing := 0, 0
	retries := p.retries(calls)
	for _, list := range arrivals(calls, func(e *journal.Entry) int32 { return endpoints.of(endpointOf(e)) }) {
		if !steady(list) {
			list = slices.DeleteFunc(list, func(a arrival) bool { return retries[a.entry] })
		}
		if len(list) < 2 {
			continue
		}
		polled++
		found, judged := p.look(list, calls[0].Run)
		if judged {
			failing++
		}
		if found.Verdict > r.Verdict {
			r = found
		}
	}
	switch {
	case r.Verdict != NotExercised:
	case polled == 0:
		r.Detail = "no client asked for the same thing twice"
	case failing == 0:
		r.Detail = fmt.Sprintf("no client went on for %d requests behind failed ones", leastPolls)
	default:
		r.Verdict, r.Detail = Pass, fmt.Sprintf("no client asked more often than every %s when requests failed, or caught up (%s)", span(p.Every),
			plural(failing, "client"))
	}
	return r
}

// retries finds what retries a poll that failed before the next was due, as often as that is agreed.
func (p PollCadence) retries(calls []Call) map[*journal.Entry]bool {
	found := map[*journal.Entry]bool{}
	for i := range calls {
		all := calls[i].Attempts
		for k := 1; k < min(len(all), p.Retries+1); k++ {
			if all[k].At-all[k-1].At < p.least(calls[i].Run) {
				found[&all[k]] = true
			}
		}
	}
	return found
}

// steady reports whether the waits between failed requests are all alike: that is a pace of its own. Behind the last retry of
// a poll the next poll is further off.
func steady(list []arrival) bool {
	shortest, longest, n := maxTime, time.Duration(0), 0
	for i := range max(0, len(list)-1) {
		if failed(list[i].entry) && failed(list[i+1].entry) {
			gap := list[i+1].at - list[i].at
			shortest, longest, n = min(shortest, gap), max(longest, gap), n+1
		}
	}
	return n >= leastPolls && longest <= shortest+shortest/2
}

// least is the shortest time between two polls that counts as the agreed one.
func (p PollCadence) least(run *Run) time.Duration { return p.Every*95/100 - run.Noise.Early(p.Every) }

// look judges one client at one endpoint, and tells whether enough of its requests failed.
func (p PollCadence) look(list []arrival, run *Run) (r Result, judged bool) {
	r.Clause = p.ID()
	var behind []time.Duration
	short, shortest := 0, maxTime
	for i := range list[1:] {
		gap := list[i+1].at - list[i].at
		if failed(list[i].entry) {
			behind = append(behind, gap)
		}
		if gap < shortest {
			short, shortest = i, gap
		}
	}
	slices.Sort(behind)
	judged = len(behind) >= leastPolls
	who, witness := list[0].entry.Client, func(i int) []journal.Entry {
		return []journal.Entry{*list[i].entry, *list[i+1].entry}
	}
	early := run.Noise.Early(p.Every)
	least := p.least(run)
	if judged && behind[len(behind)/2] < least {
		i := slices.IndexFunc(list[:len(list)-1], func(a arrival) bool { return failed(a.entry) })
		r.Verdict, r.Witness = Fail, witness(i)
		r.Detail = fmt.Sprintf("%s asked every %s when requests failed (median of %d); the contract has it ask every %s", named(who),
			span(behind[len(behind)/2]), len(behind), span(p.Every))
		return r, judged
	}
	if shortest >= p.Every/2-early {
		return r, judged
	}
	r.Detail = fmt.Sprintf("%s sent two requests %s apart; the contract has it ask every %s", named(who), span(shortest), span(p.Every))
	// The first of the two may have come late by itself.
	by := lateness{list[short].at - p.Every, list[short+1].at, p.Every - shortest, 1}
	if why := by.excuse(run.Noise); why != "" {
		r.Verdict, r.Detail = Inconclusive, r.Detail+"; but "+why
		return r, judged
	}
	r.Verdict, r.Witness = Fail, witness(short)
	return r, judged
}
