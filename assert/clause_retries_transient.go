package assert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "retries-transient", Level: Minor,
		Summary: "A passing failure (429, 502, 503, 504, a reset) of a request that is safe to repeat is tried again.",
		Measure: "Of the calls whose first attempt met such a failure, the share that made a second one. Left out: failures that the contract " +
			"says are not retried, requests that may not be sent twice, a poller's GETs, answers that asked for a longer wait than the client has to sit out.",
		Why: "Keeps a client that never retries from passing everything: with it every deploy and every blip reaches the user. Often the " +
			"retry code is there and dead: a body that was consumed, a cancelled context, a list without 429.",
		Fix: "Retry 429, 502, 503, 504 and broken connections within the cap; make bodies repeatable; give writes an idempotency key. In " +
			"clients without retries add a policy of three retries with exponential backoff and full jitter.",
		Source: "OTLP specification; AIP-194; googleapis/conformance-tests storage/v1/retry_tests.json (read in 2026)",
		Shown:  true, Samples: Samples{Calls: 10, Each: 5},
		New: func(c *Contract) Clause {
			if c.Attempts.Max == 1 {
				return nil
			}
			return &RetriesTransient{Table: c.Responses, SafeRoutes: c.Idempotency.SafeRoutes, Quiet: quietOf(c), Polls: c.Poll.Every > 0}
		},
	})
}

// RetriesTransient promises that passing failures are tried again.
type RetriesTransient struct {
	Share      float64       `yaml:"share" doc:"least share of calls that try again, up to 1; default 1"`
	Statuses   []int         `yaml:"statuses" doc:"failures that count, 400 to 599, besides broken connections and answers cut short, which always do; default 429, 502, 503, 504"`
	Patience   time.Duration `yaml:"patience" doc:"longest Retry-After that a client has to sit out; default 30 s"`
	Table      *Responses    `yaml:"-"` // what the contract does not want retried; nil: the strict table
	SafeRoutes []string      `yaml:"-"` // requests that may be repeated without a key
	Polls      bool          `yaml:"-"` // GETs of one thing again and again are polls, and the next one stands for a retry
	Quiet      time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p RetriesTransient) ID() string { return "retries-transient" }

// Validate finds parameters that make no sense.
func (p *RetriesTransient) Validate(n strict.Node) {
	between(n, "share", p.Share, 0.001, 1)
	for i, status := range n.At("statuses").Seq() {
		if i < len(p.Statuses) && (p.Statuses[i] < 400 || p.Statuses[i] > maxStatus) {
			status.Fail("statuses: %d is no failure; want 400 to %d", p.Statuses[i], maxStatus)
		}
	}
	atLeast(n, "patience", p.Patience, time.Millisecond)
	atLeast(n, "quiet", p.Quiet, 0)
}

// network is how kinds of failures call a broken connection.
const network = 0

// Check looks for calls that gave up after one attempt.
func (p RetriesTransient) Check(calls []Call) Result {
	p = p.defaults()
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	met, retried := map[int]bool{}, map[int]bool{}
	recovered, readings := 0, p.readings(calls)
	for i := range calls {
		c := &calls[i]
		e := &c.Attempts[0]
		if !p.expected(e, c.Run) || readings[endpointOf(e)].polls(p.Polls) {
			continue
		}
		switch {
		case len(c.Attempts) > 1:
			t.keep(true)
			retried[passingKind(e)], met[passingKind(e)] = true, true
			if succeeded(&c.Attempts[len(c.Attempts)-1]) {
				recovered++
			}
		case !ends.silent(c):
			t.keep(false)
		default:
			met[passingKind(e)] = true
			t.breach(c, 0, func() (string, []journal.Entry) {
				return "after " + after(e) + " no second attempt came", c.Attempts[:1]
			})
		}
	}
	if t.broken > 0 && float64(t.kept) >= p.Share*float64(t.kept+t.broken) {
		t.broken = 0
	}
	t.worst += "; " + lacks(met, retried)
	ended := plural(recovered, "call") + " succeeded in the end"
	if recovered == 0 {
		ended = "the failures lasted"
	}
	return t.result(
		fmt.Sprintf("passing failures were tried again: %s; %s", kinds(retried), ended),
		"no first attempt of a request that is safe to repeat met "+kinds(p.wanted()),
		ends.unsure("no second attempt came"))
}

func (p RetriesTransient) defaults() RetriesTransient {
	if p.Share <= 0 {
		p.Share = 1
	}
	if len(p.Statuses) == 0 {
		p.Statuses = []int{429, 502, 503, 504}
	}
	if p.Patience <= 0 {
		p.Patience = 30 * time.Second
	}
	if p.Table == nil {
		p.Table = StrictResponses()
	}
	return p
}

// expected reports whether a second attempt has to follow e.
func (p RetriesTransient) expected(e *journal.Entry, run *Run) bool {
	passing := slices.Contains(p.Statuses, e.Status) && e.Delivered() || passingKind(e) == network && networkFailure(e) && e.Gone == 0
	if !passing || p.Table.after(e) != Backoff {
		return false
	}
	if asked, ok := Asked(*e, run.Began); ok && asked > p.Patience {
		return false
	}
	return mayRepeat(e, p.SafeRoutes) || !maybeProcessed(e)
}

// reading is what a client reads again and again.
type reading struct {
	poll
	latest *journal.Entry
	calls  int
}

// readings lists what clients read more than once by themselves: nobody gave them these calls.
func (p RetriesTransient) readings(calls []Call) map[endpoint]*reading {
	all := map[endpoint]*reading{}
	for i := range calls {
		e := &calls[i].Attempts[0]
		if e.Method != "GET" || calls[i].Rule == driverRule || len(calls[i].Run.Given[e.Client]) > 0 && !p.Polls {
			continue
		}
		k := endpointOf(e)
		r := all[k]
		if r == nil {
			r = &reading{}
			all[k] = r
		} else {
			r.after(r.latest, e)
		}
		r.latest = e
		r.calls++
	}
	return all
}

// polls reports whether the client was agreed to poll, or was seen to: it asked three times and more, a second apart at
// least, while all was well.
func (r *reading) polls(agreed bool) bool {
	return r != nil && r.calls > 1 && (agreed || r.seen >= 2 && r.every >= leastPoll)
}

// passingKind is the status that an attempt failed with; network where the connection broke, also within a good answer.
func passingKind(e *journal.Entry) int {
	if e.Cut && e.Status >= 200 && e.Status < 300 {
		return network
	}
	return e.Status
}

// mayRepeat reports whether sending the request again can do no harm even if it was processed.
func mayRepeat(e *journal.Entry, routes []string) bool {
	return idempotentMethod(e.Method) || e.Key != "" || e.Precondition || safeRoute(routes, e)
}

func (p RetriesTransient) wanted() map[int]bool {
	all := map[int]bool{network: true}
	for _, s := range p.Statuses {
		all[s] = true
	}
	return all
}

// lacks says which of the kinds of failure that were met the client retried.
func lacks(met, retried map[int]bool) string {
	if len(retried) == 0 {
		return "of " + kinds(met) + " it retried none"
	}
	return "of " + kinds(met) + " it retried " + kinds(retried)
}

// kinds lists failures: "429, 503 and reset".
func kinds(of map[int]bool) string {
	codes := make([]int, 0, len(of))
	for s := range of {
		codes = append(codes, s)
	}
	slices.Sort(codes)
	var words []string
	for _, s := range codes {
		if s != network {
			words = append(words, strconv.Itoa(s))
		}
	}
	if of[network] {
		words = append(words, "reset")
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
