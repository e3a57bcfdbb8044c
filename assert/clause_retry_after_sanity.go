package assert

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "retry-after-sanity", Level: Major, Exact: true,
		Summary: "A Retry-After that is absurdly long or no value at all neither stalls the client nor makes it come back at once.",
		Measure: "The wait after a failed answer whose Retry-After asks for more than the contract's maximum, or is neither whole seconds nor a " +
			"date (negative, a fraction, a word). Giving up is lawful. A wait longer than the maximum fails, or than the time for the whole " +
			"call if that is less, and so does a client that is still at it then; but of equal requests, which nothing but time joins, the later " +
			"is another call. Where the contract says to give up, any further attempt fails after an answer that it honours, and where it " +
			"says to wait the maximum, giving up does while attempts and time are left. Waits fail that are below the shortest that the " +
			"agreed backoff gives, or for one value so short together that a client drawing each between 0 and the initial backoff (50 ms " +
			"if none is agreed) shows them less than once in 10,000 runs.",
		Why: "One wrong header from a proxy or a clock that ran on parks a worker for a day, or, where junk is read as 0 and where a timer " +
			"overflows (2,147,484 s in JavaScript), turns the whole fleet into a hot loop.",
		Fix: "Parse strictly: digits only, or one of the three date forms. Anything else counts as no header: use your own backoff. Above a " +
			"maximum of your own give up, or wait the maximum; compare before multiplying, so that nothing overflows.",
		Source: "RFC 9110 10.2.3 (June 2022); draft-ietf-httpapi-ratelimit-headers, security considerations; urllib3 2.7 (clamps at 6 h), " +
			"openai-python (over 120 s: gives up), azcore (60 s), axios-retry 4.5 (overflow), read in 2026",
		Late: true, Samples: Samples{Calls: 3, Gaps: 1, Each: 3},
		New: func(c *Contract) Clause {
			return &RetryAfterSanity{
				Max: longestWait(c), Absurd: cmp.Or(c.RetryAfter.Max, most.wait), Min: c.Backoff.shortest(), Base: c.Backoff.Delay(1),
				agreed: c,
			}
		},
	})
}

// RetryAfterSanity promises that senseless values of Retry-After do no harm. Without a contract Max and Absurd are 120 s by default.
type RetryAfterSanity struct {
	Max    time.Duration `yaml:"max" doc:"no wait after such a value is longer; default attempts.within or retry-after.max, the shorter, else 30 days"`
	Absurd time.Duration `yaml:"absurd" doc:"a value that asks for more is meant, besides what is no value; default retry-after.max, else 30 days"`
	Min    time.Duration `yaml:"min" doc:"no wait after such a value is shorter; default what backoff.initial and backoff.jitter give, 0 where full jitter is allowed"`
	Base   time.Duration `yaml:"base" doc:"smallest initial backoff, before jitter; default backoff.initial, else 50 ms"`

	agreed *Contract // says what to do when asked to wait too long; nil: either
}

// longestWait is how long a client may wait at most that was told an absurd time: a call that takes longer than agreed is
// lost anyway.
func longestWait(c *Contract) time.Duration {
	if c.Attempts.Within > 0 && (c.RetryAfter.Max == 0 || c.Attempts.Within < c.RetryAfter.Max) {
		return c.Attempts.Within
	}
	return cmp.Or(c.RetryAfter.Max, most.wait)
}

// ID names the clause.
func (p RetryAfterSanity) ID() string { return "retry-after-sanity" }

// Validate finds parameters that make no sense.
func (p *RetryAfterSanity) Validate(n strict.Node) {
	atLeast(n, "max", p.Max, time.Second)
	atLeast(n, "absurd", p.Absurd, time.Second)
	atLeast(n, "min", p.Min, 0)
	atLeast(n, "base", p.Base, time.Millisecond)
}

// Check measures the waits after senseless values.
func (p RetryAfterSanity) Check(calls []Call) Result {
	p.fill()
	t, hasty := tally{id: p.ID()}, map[string]*hurry{}
	for i := range calls {
		c := &calls[i]
		met, over, done := false, true, false
		for k := range c.Attempts {
			e := &c.Attempts[k]
			if !p.senseless(e, c.Run) {
				continue
			}
			met = true
			if k+1 == len(c.Attempts) {
				done, over = p.last(&t, c, k)
				continue
			}
			wait := c.Attempts[k+1].At - endOf(e)
			if wait < -overlap || done || c.maybeBetween(endOf(e), c.Attempts[k+1].At) || another(c, k, p.Max) {
				continue
			}
			if done = p.measure(&t, c, k, max(0, wait)); done {
				continue
			}
			h := hasty[e.RetryAfter]
			if h == nil {
				h = &hurry{}
				hasty[e.RetryAfter] = h
			}
			h.add(c, k, max(0, wait)+c.Run.Noise.Resolution, p.Base/2)
		}
		if met && !done {
			t.keep(over)
		}
	}
	if r, found := p.together(hasty); found && t.broken == 0 {
		return r
	}
	return t.result("waits after a senseless Retry-After were the client's own, or the call ended",
		"no failure came with a Retry-After beyond "+span(p.Absurd)+" or without a meaning",
		"the watch ended before it was clear that the client had given up")
}

func (p *RetryAfterSanity) fill() {
	const usual = 120 * time.Second // as openai-python
	if p.Absurd <= 0 {
		p.Absurd = usual
	}
	if p.Max <= 0 {
		p.Max = usual
	}
	if p.Base <= 0 {
		p.Base = 50 * time.Millisecond
	}
}

// senseless reports whether the header asks for too long or says nothing. A date in the past and 0 do make sense: now.
func (p RetryAfterSanity) senseless(e *journal.Entry, run *Run) bool {
	if e.RetryAfter == "" || !failed(e) || networkFailure(e) {
		return false
	}
	began := run.Began
	if began.IsZero() && isDate(e.RetryAfter) {
		return false // how far off it is cannot be known
	}
	asked, ok := Asked(*e, began)
	return !ok || asked > p.Absurd
}

// measure judges one wait, and reports whether it was a breach or may have been one.
func (p RetryAfterSanity) measure(t *tally, c *Call, k int, wait time.Duration) bool {
	e := &c.Attempts[k]
	say := func(contract string) func() (string, []journal.Entry) {
		return func() (string, []journal.Entry) {
			return fmt.Sprintf("attempt %d came %s after %s; the contract says %s", k+2, span(wait), after(e), contract), c.Attempts[k : k+2]
		}
	}
	from, to := endOf(e), c.Attempts[k+1].At
	wanted := p.agreed.wentOn(c, k)
	switch {
	case wanted != "":
		t.breach(c, float64(k), say(wanted))
	case wait < p.Min-c.Run.Noise.Early(p.Min):
		t.breach(c, float64(p.Min-wait), say("not before "+span(p.Min)))
	case wait > p.Max+c.Run.Noise.Late(p.Max, from, to):
		t.late(c, lateness{from, to, wait - p.Max, 1}, float64(wait), say("to wait "+span(p.Max)+" at most, or to give up"))
	default:
		return false
	}
	return true
}

// last judges a call that got no further: done if it was or may have been a breach, over if nothing can follow.
func (p RetryAfterSanity) last(t *tally, c *Call, k int) (done, over bool) {
	e := &c.Attempts[k]
	if wanted := p.agreed.stayedAway(c); wanted != "" {
		t.breach(c, 0, func() (string, []journal.Entry) {
			return fmt.Sprintf("%s gave up after %s; the contract says %s", named(c.Client), after(e), wanted), c.Attempts[k : k+1]
		})
		return true, true
	}
	from, until := endOf(e), c.Run.Until
	waited := until - from
	if c.Run.Ended || !c.Run.Working || waited <= p.Max+c.Run.Noise.Late(p.Max, from, until) {
		return false, c.Run.Ended
	}
	t.late(c, lateness{from, until, waited - p.Max, 1}, float64(waited), func() (string, []journal.Entry) {
		return fmt.Sprintf("%s was still waiting %s after %s; the contract says to wait %s at most, or to give up", named(c.Client), span(waited),
			after(e), span(p.Max)), c.Attempts[k : k+1]
	})
	return true, true
}

// together judges the waits after each value.
func (p RetryAfterSanity) together(hasty map[string]*hurry) (Result, bool) {
	r := Result{Clause: p.ID()}
	for _, value := range slices.Sorted(maps.Keys(hasty)) {
		h := hasty[value]
		chance := h.chance(p.Base) * float64(len(hasty))
		if chance < sanityAlpha {
			r.Chance = chance
			r.Verdict, r.Witness = Fail, h.shown
			r.Detail = fmt.Sprintf("after Retry-After: %s the next attempt came %s later (median of %s); the contract wants a wait, and even waits drawn "+
				"between 0 and %s are that short less than once in 10,000 runs", printable(value), span(h.median()), plural(len(h.waits), "wait"), span(p.Base))
			return r, true
		}
		if h.brief(p.Base) {
			r.Verdict = Inconclusive
			r.Detail = fmt.Sprintf("after Retry-After: %s the next attempt came %s later (median of %s), %s",
				printable(value), span(h.median()), plural(len(h.waits), "wait"), h.excuse(p.Base, "more calls"))
		}
	}
	return r, r.Verdict == Inconclusive
}
