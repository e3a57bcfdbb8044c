package assert

import (
	"fmt"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "attempt-timeout", Level: Major,
		Summary: "Every attempt has a time limit of its own, after which the client closes it, and a sensible one.",
		Measure: "How long attempts without a whole answer stayed open: from their arrival until the client was seen to leave. More than 30 s fails " +
			"(the time for the whole call if that is less, twice as long for an upload of 1 MiB or more), and so does an attempt that is still " +
			"open then. One that is given up within 1 s and sent again fails too: the server had no time. What the end of the call " +
			"or a cancellation cut short is not meant by that.",
		Why: "Without a limit one silent server occupies a connection, a thread and a user for ever, and no retry ever starts. A limit that is too " +
			"short turns a slow server into an overloaded one: each answer comes to nobody, and is asked for again.",
		Fix: "Set connect, read and total timeouts for each attempt (many libraries have none by default), a little above the server's 99.9th " +
			"percentile, and let the timeout close the connection or reset the stream.",
		Source: "Amazon Builders' Library, \"Timeouts, retries, and backoff with jitter\" (2019); Standard Webhooks (15 to 30 s); GitHub " +
			"webhooks (10 s), Shopify webhooks (5 s), .NET resilience handler (10 s), read in 2026",
		Late: true, Samples: Samples{Calls: 10},
		New: func(c *Contract) Clause {
			p := &AttemptTimeout{Max: usualTimeout}
			if c.Attempts.Within > 0 {
				p.Max = min(p.Max, c.Attempts.Within)
			}
			return p
		},
	})
}

// AttemptTimeout promises that no attempt is waited for without end, and none is given up in haste.
type AttemptTimeout struct {
	Min time.Duration `yaml:"min" doc:"time that the server is given at least before a retry; default 1 s, or half of max if that is less"`
	Max time.Duration `yaml:"max" doc:"time after which an attempt is closed, twice as long for uploads of 1 MiB or more; default attempts.within, and 30 s at most"`
}

const (
	usualTimeout = 30 * time.Second // Standard Webhooks: 15 to 30 s
	largeUpload  = 1 << 20          // bytes
)

// ID names the clause.
func (p AttemptTimeout) ID() string { return "attempt-timeout" }

// Validate finds parameters that make no sense.
func (p *AttemptTimeout) Validate(n strict.Node) {
	atLeast(n, "min", p.Min, time.Millisecond)
	atLeast(n, "max", p.Max, time.Millisecond)
}

// Check measures attempts that got no whole answer.
func (p AttemptTimeout) Check(calls []Call) Result {
	if p.Max <= 0 {
		p.Max = usualTimeout
	}
	if p.Min <= 0 {
		p.Min = min(time.Second, p.Max/2)
	}
	t := tally{id: p.ID()}
	shortest, longest := maxTime, time.Duration(0)
	for i := range calls {
		c := &calls[i]
		met, over, broken := false, true, false
		for k := range c.Attempts {
			e := &c.Attempts[k]
			lasted := openUntil(e, c.Run) - e.At
			if broken = p.tooLong(&t, c, k, lasted) || p.tooShort(&t, c, k, lasted); broken {
				break
			}
			switch {
			case e.Open && e.Gone == 0:
				met, over = true, false
			case timedOut(c, e):
				met = true
				shortest, longest = min(shortest, lasted), max(longest, lasted)
			}
		}
		if met && !broken {
			t.keep(over)
		}
	}
	return t.result(fmt.Sprintf("attempts without an answer were given up after %s to %s", span(shortest), span(longest)),
		"no client was left without an answer until it gave up",
		fmt.Sprintf("no attempt was seen to stay open for %s, but some were open when the watch ended", span(p.Max)))
}

// timedOut reports whether the client gave the attempt up by itself before a usable answer was there.
func timedOut(c *Call, e *journal.Entry) bool {
	return e.Gone > 0 && e.Status < 300 && (c.Run.Cancelled == 0 || e.Gone < c.Run.Cancelled)
}

// tooLong judges an attempt that stayed open for that long. What was answered in full without a fault may have been meant
// to last: a long poll, a stream.
func (p AttemptTimeout) tooLong(t *tally, c *Call, k int, lasted time.Duration) bool {
	e, limit := &c.Attempts[k], p.Max
	if e.BodyLen >= largeUpload {
		limit *= 2
	}
	until := e.At + lasted
	if e.Delivered() && e.Fault == "" || unread(e) || lasted <= limit+c.Run.Noise.Late(limit, e.At, until) {
		return false
	}
	t.late(c, lateness{e.At, until, lasted - limit, 1}, float64(lasted), func() (string, []journal.Entry) {
		what := "was given up only after"
		switch {
		case e.Open:
			what = "was still open after"
		case e.Gone == 0:
			what = "was waited for for"
		}
		return fmt.Sprintf("attempt %d %s %s; the contract ends each after %s", k+1, what, span(lasted), span(limit)), c.Attempts[k : k+1]
	})
	return true
}

// tooShort judges an attempt that was given up and sent again. A request that arrives late seems to be given up early.
func (p AttemptTimeout) tooShort(t *tally, c *Call, k int, lasted time.Duration) bool {
	e := &c.Attempts[k]
	if !timedOut(c, e) || e.Status != 0 || k > 0 && c.hedge(k) || k+1 == len(c.Attempts) || c.Attempts[k+1].At < e.Gone-overlap ||
		lasted >= p.Min-c.Run.Noise.Early(p.Min) {
		return false
	}
	t.late(c, lateness{e.At - p.Min, e.At, p.Min - lasted, 1}, float64(p.Min-lasted), func() (string, []journal.Entry) {
		return fmt.Sprintf("attempt %d was given up after %s and sent again; the contract gives the server %s at least", k+1, span(lasted), span(p.Min)),
			c.Attempts[k : k+2]
	})
	return true
}
