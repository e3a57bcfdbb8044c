package interop

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/suites/driver"
)

// Seen is what one client did in one case.
type Seen struct {
	Case     string          `json:"case"`
	Requests int             `json:"requests"`
	Resent   int             `json:"resent,omitempty"` // of them by the transport
	Gaps     []time.Duration `json:"gaps"`             // between attempts
	Stopped  bool            `json:"stopped,omitempty"`
	Noise    time.Duration   `json:"-"` // by which the machine may have bent a wait
}

// policyCase is the case whose waits show a client's policy best.
const policyCase = "503"

// slots are shared by all clients that are commands, so that only a few processes of them all start at a time.
var slots = driver.NewSlots(0)

// Probe puts a client through cases, side by side. With memory, which takes a bubble of virtual time, no wait is cut
// short and none is late; else each client is stopped after 25 s.
// calls are what the client did in the case of policyCase.
func Probe(ctx context.Context, client func(method string) driver.Client, cases []Case, memory bool) (all []Seen, calls []assert.Call, err error) {
	o := driver.Options{Seed: 1, Memory: memory, Enough: -1}
	limit := caseLimit
	if memory {
		o.Slots, limit = driver.NewSlots(len(cases)), time.Hour
	} else {
		o.Slots, o.Canary = slots, driver.NewCanary()
	}
	by := make([][]Seen, len(cases))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range cases {
		group.Go(func() error {
			out, err := driver.Run(ctx, c.scenario(limit), client(c.Method), o)
			if err != nil {
				return fmt.Errorf("case %s: %w", c.Name, err)
			}
			made := assert.Calls(out.History.Entries, assert.Key{OneCall: true, Run: &out.Run})
			by[i] = seen(c, out, made)
			if c.Name == policyCase {
				calls = made
			}
			return nil
		})
	}
	err = group.Wait()
	return slices.Concat(by...), calls, err
}

// seen is what each of a case's clients did.
func seen(c Case, out *driver.Outcome, calls []assert.Call) []Seen {
	noise := noiseOf(out.Run.Noise)
	all := make([]Seen, len(out.Ends))
	for i, end := range out.Ends {
		s := &all[i]
		*s = Seen{Case: c.Name, Stopped: end.Stopped != "", Noise: noise}
		for _, call := range calls {
			if call.Client != end.Client {
				continue
			}
			s.Requests += len(call.Attempts) + len(call.Parts)
			s.Resent += len(call.Parts)
			for k := range len(call.Attempts) - 1 {
				s.Gaps = append(s.Gaps, call.Gap(k))
			}
		}
	}
	return all
}

// noiseOf is twice as much as the canary was ever late.
func noiseOf(n assert.Noise) (most time.Duration) {
	for _, s := range n.Slices {
		most = max(most, 2*s.Max)
	}
	return most
}

// Differ says how what was seen differs from what is expected, a sentence each.
func (c Client) Differ(all []Seen) (differences []string) {
	for _, s := range all {
		want := c.expected(s.Case)
		if !want.Requests.Holds(s.Requests, s.Stopped) {
			differences = append(differences, fmt.Sprintf("%s: %d requests, expected %s", s.Case, s.Requests, want.Requests))
		}
		if s.Resent != want.Resent {
			differences = append(differences, fmt.Sprintf("%s: the transport sent %d again, expected %d", s.Case, s.Resent, want.Resent))
		}
		for i, b := range want.Gaps {
			if i < len(s.Gaps) && !b.Holds(s.Gaps[i], s.Noise) {
				differences = append(differences, fmt.Sprintf("%s: wait %d is %v, expected %s", s.Case, i+1, s.Gaps[i].Round(time.Millisecond), b))
			}
		}
	}
	return differences
}

// doubtful are the cases in which a client was slower than expected, which may have been the machine: it takes a second run
// to know. Too many requests or too short a wait are the client's own.
func (c Client) doubtful(all []Seen) (cases []Case) {
	for _, s := range all {
		want := c.expected(s.Case)
		slow := s.Resent < want.Resent
		for i, b := range want.Gaps {
			slow = slow || i < len(s.Gaps) && s.Gaps[i] > b.Most && !b.Holds(s.Gaps[i], s.Noise)
		}
		if known, err := CaseOf(s.Case); slow && err == nil && !slices.ContainsFunc(cases, func(k Case) bool { return k.Name == s.Case }) {
			cases = append(cases, known)
		}
	}
	return cases
}

// replaced has what a second run saw in the place of the first.
func replaced(all, again []Seen) []Seen {
	rerun := func(s Seen) bool { return slices.ContainsFunc(again, func(a Seen) bool { return a.Case == s.Case }) }
	all = append(slices.DeleteFunc(all, rerun), again...)
	place := func(s Seen) int { return slices.IndexFunc(Cases(), func(c Case) bool { return c.Name == s.Case }) }
	slices.SortStableFunc(all, func(a, b Seen) int { return place(a) - place(b) })
	return all
}
