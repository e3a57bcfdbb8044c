package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/report"
)

// page is what is known of the client of a stream.
func (s *stream) page(f Facts, of *Endpoint) Client {
	c := Client{
		Name: s.client, Method: s.method, Path: s.path, Requests: s.requests, Usual: of.Usual, Peers: of.Clients - 1, Share: float64(s.requests) / float64(of.Requests),
		Statuses: shares(s.statuses, s.requests), Repeats: s.repeats, Redundant: s.redundant, Loops: s.loops,
		PeakRate: s.peak, UsualRate: of.UsualRate, CalmRate: s.calm,
	}
	if s.known > 1 {
		c.Payloads = &Payloads{s.distinct, s.known}
	}
	if s.repeats > 0 {
		c.Spacing = &Spacing{report.Milliseconds(s.gaps.lowest), report.Milliseconds(s.gaps.quantile(0.05)), report.Milliseconds(s.gaps.quantile(0.5)),
			report.Milliseconds(s.gaps.mean()), report.Milliseconds(s.gaps.quantile(0.95)), s.gaps.steady(f.slack())}
	}
	if s.redundant > 0 {
		c.Storm = &Storm{
			FromS: s.storm.from.Seconds(), ToS: s.storm.to.Seconds(), From: wall(f, s.storm.from), To: wall(f, s.storm.to),
			Minutes: s.storm.minutes, Rate: float64(s.redundant) / float64(max(1, s.storm.minutes)), Peak: s.storm.peak,
		}
	}
	c.Pattern = s.pattern(f)
	return c
}

// slack is how far equal waits may lie apart.
func (f Facts) slack() time.Duration { return max(25*time.Millisecond, f.Resolution) }

// pattern says in a sentence what the client does.
func (s *stream) pattern(f Facts) string {
	loops := "it looped once"
	if s.loops > 1 {
		loops = fmt.Sprintf("it looped %d times", s.loops)
	}
	only := ""
	if len(s.statuses) == 1 && s.failures > 0 {
		only = fmt.Sprintf(", and never had another answer than %s", answer(s.statuses[0].status))
	}
	switch {
	case s.accused():
		return fmt.Sprintf("%s: %s%s", loops, s.spacing(f), only)
	case s.loops > 0:
		return fmt.Sprintf("its failed requests came again, but no faster than it asks while all is well (%d a minute): many users or a poller look like that", s.calm)
	case s.pace.steady(f.slack()) && s.requests >= 20 && s.pace.quantile(0.5) > f.slack():
		return fmt.Sprintf("it asks every %s, whatever the answer", report.Span(report.Milliseconds(s.pace.quantile(0.5))))
	case s.failures == 0:
		return "all its requests succeeded"
	case s.redundant == 0:
		return "it repeats no more than the contract allows"
	default:
		return fmt.Sprintf("%d of its requests may be repeats that the contract does not allow, too few to tell from new ones", s.redundant)
	}
}

// spacing says how repeats follow failures.
func (s *stream) spacing(f Facts) string {
	middle := s.gaps.quantile(0.5)
	switch {
	case s.gaps.mean() < noWait:
		return "it sends a failed request again at once"
	case middle < 2*f.Resolution:
		return fmt.Sprintf("it sends a failed request again %s later, on average", report.Span(report.Milliseconds(s.gaps.mean())))
	case s.gaps.steady(f.slack()):
		return fmt.Sprintf("it sends a failed request again %s after each failure, without backoff", report.Span(report.Milliseconds(middle)))
	default:
		return fmt.Sprintf("it sends a failed request again after %s (median)", report.Span(report.Milliseconds(middle)))
	}
}

// noWait is too short for a wait that anyone chose.
const noWait = 50 * time.Millisecond

func answer(status int) string {
	if status == 0 {
		return "none at all"
	}
	return fmt.Sprint(status)
}

// judge holds the evidence against the contract, and returns what it breaks, the gravest first.
func (r rules) judge(s *stream, f Facts) (breaks []report.Result) {
	run := &assert.Run{Began: f.Began, Noise: assert.Noise{Resolution: f.Resolution}}
	for i := range s.evidence {
		run.Until = max(run.Until, s.evidence[i].End())
	}
	calls := assert.Calls(s.evidence, assert.Key{Table: r.table, Run: run})
	levels := map[string]assert.Level{}
	for _, j := range r.contract.Judges() {
		levels[j.Kind.ID] = j.Level
	}
	for _, result := range assert.Judge(r.contract, nil, calls) {
		if result.Verdict == assert.Fail && !slices.Contains(f.Silent, result.Clause) {
			breaks = append(breaks, report.NewResult("log", levels[result.Clause], result, calls))
		}
	}
	slices.SortStableFunc(breaks, func(a, b report.Result) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(urgency(a.Clause), urgency(b.Clause)))
	})
	return breaks
}

// urgent lists clauses in the order in which a client's owner should look at them: the cause before its effects.
var urgent = []string{"no-retry-4xx", "no-retry-permanent-5xx", "min-spacing", "retry-after-delta", "retry-cap", "backoff-growth", "client-rate"}

func urgency(clause string) int {
	if i := slices.Index(urgent, clause); i >= 0 {
		return i
	}
	return len(urgent)
}

// others are the busiest clients that are not accused.
func (v *Investigation) others(f Facts, endpoints map[endpoint]*Endpoint) []Client {
	var lawful []*stream
	for _, s := range v.streams {
		if !s.accused() && (f.Only == "" || s.client == f.Only) {
			lawful = append(lawful, s)
		}
	}
	slices.SortStableFunc(lawful, func(a, b *stream) int {
		return cmp.Or(cmp.Compare(b.loops, a.loops), cmp.Compare(b.requests, a.requests), cmp.Compare(a.client, b.client))
	})
	var list []Client
	for _, s := range lawful[:min(len(lawful), mostShown)] {
		c := s.page(f, endpoints[s.endpoint])
		switch {
		case s.loops > 0:
			c.Verdict = assert.Inconclusive
		case s.failures > 0:
			c.Verdict = assert.Pass
		}
		list = append(list, c)
	}
	return list
}

// alarms lists the limits that the stream exceeded.
func (s *stream) alarms(f Facts) (all []Alert) {
	for _, a := range s.alerts {
		if a.raised {
			all = append(all, Alert{a.limit, s.client, s.method, s.path, a.at.Seconds(), wall(f, a.at), a.exceeds})
		}
	}
	return all
}
