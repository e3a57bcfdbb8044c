package assert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "unprocessed-stream-retry", Level: Minor,
		Summary: "What HTTP/2 says was not processed (REFUSED_STREAM, above GOAWAY's last stream) is sent again: once at once, then with waits.",
		Measure: "Of the calls with a request that was not processed: that another followed, that no more than at-once repeats in a row " +
			"came within 50 ms, and that none was sent over a connection that said GOAWAY.",
		Why: "Such a request did nothing, so even a write can be sent again. A client that gives up fails at every deploy of the server; one " +
			"that repeats without a bound hammers a server that refuses because it is full.",
		Fix: "Keep the body until the answer has begun, so that the HTTP library can send it again (in Go: Request.GetBody). Bound its transparent " +
			"retries to one, and let the policy with its backoff do the rest.",
		Source: "RFC 9113 8.7; gRPC A6 (transparent retries: once, not counted); nodejs/undici pull request 5603 (a bound against an endless loop, read in 2026)",
		Shown:  true, Samples: Samples{Calls: 10},
		New: func(c *Contract) Clause { return &UnprocessedStreamRetry{Quiet: quietOf(c)} },
	})
}

// UnprocessedStreamRetry promises that requests of which HTTP/2 says that they were not processed are sent again, in
// bounds. Whether they count against the cap is no business of this clause.
type UnprocessedStreamRetry struct {
	AtOnce int           `yaml:"at-once" doc:"repeats in a row that may come at once; default 1"`
	Quiet  time.Duration `yaml:"quiet" doc:"silence after which a call counts as over, unless its client has ended; default the longest wait of the contract, and 5 s at least"`
}

// ID names the clause.
func (p UnprocessedStreamRetry) ID() string { return "unprocessed-stream-retry" }

// Validate finds parameters that make no sense.
func (p *UnprocessedStreamRetry) Validate(n strict.Node) {
	atLeast(n, "at-once", p.AtOnce, 1)
	atLeast(n, "quiet", p.Quiet, 0)
}

// Check looks at what follows a request that was not processed.
func (p UnprocessedStreamRetry) Check(calls []Call) Result {
	if p.AtOnce < 1 {
		p.AtOnce = 1
	}
	t, ends := tally{id: p.ID()}, endingsOf(calls, p.Quiet)
	for i := range calls {
		c := &calls[i]
		sends := c.sends()
		first := slices.IndexFunc(sends, func(e journal.Entry) bool { return e.Unprocessed && e.Gone == 0 })
		switch {
		case first < 0:
		case p.breaks(&t, c, sends):
		case first < len(sends)-1:
			t.keep(true)
		case !ends.silent(c):
			t.keep(false)
		default:
			t.breach(c, 0, func() (string, []journal.Entry) {
				return "the request was never sent again, although the server said that it did nothing with it: " + refusal(&sends[first]), sends[first:]
			})
		}
	}
	return t.result("what was not processed was sent again, in bounds", "HTTP/2 refused no request: no REFUSED_STREAM, no GOAWAY",
		ends.unsure("no second send came"))
}

// breaks looks for repeats that come at once for too long, or over a connection that goes away.
func (p UnprocessedStreamRetry) breaks(t *tally, c *Call, sends []journal.Entry) bool {
	run, stale := 0, 0
	for i := range len(sends) - 1 {
		e, next := &sends[i], &sends[i+1]
		if !e.Unprocessed || e.Gone > 0 {
			run, stale = 0, 0
			continue
		}
		soon := next.At-endOf(e) <= resendWithin
		if run++; !soon {
			run = 0
		}
		if goingAway(e) && e.Conn == next.Conn {
			stale++
		}
		if run > p.AtOnce {
			return p.loops(t, c, sends, i+1)
		}
		if stale > 1 || stale > 0 && !soon { // one that comes at once may have been under way
			t.breach(c, 1, func() (string, []journal.Entry) {
				return "the request was sent again over the connection that said GOAWAY, where nothing is processed any more", []journal.Entry{*e, *next}
			})
			return true
		}
	}
	return false
}

// loops tells of a run of repeats that came at once, of which the one at last is the first too many.
func (p UnprocessedStreamRetry) loops(t *tally, c *Call, sends []journal.Entry, last int) bool {
	end := last
	for end+1 < len(sends) && sends[end].Unprocessed && sends[end+1].At-endOf(&sends[end]) <= resendWithin {
		end++
	}
	from := last - p.AtOnce - 1
	t.breach(c, float64(1+end-from), func() (string, []journal.Entry) {
		return fmt.Sprintf("%d repeats in a row came within %s each, after %s; the contract allows %d", end-from, span(resendWithin), refusal(&sends[from]), p.AtOnce),
			sends[from : last+1]
	})
	return true
}

// sends lists every request of the call that came, in order, with those that something other than the client repeated.
func (c *Call) sends() []journal.Entry {
	if len(c.Parts) == 0 {
		return c.Attempts
	}
	all := slices.Clone(c.Attempts)
	for _, p := range c.Parts {
		all = append(all, p.Entry)
	}
	slices.SortStableFunc(all, func(a, b journal.Entry) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Seq, b.Seq)) })
	return all
}

// goingAway reports whether the connection said GOAWAY.
func goingAway(e *journal.Entry) bool { return strings.Contains(e.Fault, "goaway") }

func refusal(e *journal.Entry) string {
	if goingAway(e) {
		return "GOAWAY"
	}
	return "REFUSED_STREAM"
}
