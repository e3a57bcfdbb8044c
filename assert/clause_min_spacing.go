package assert

import (
	"fmt"
	"slices"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/faultserver/journal"
	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		ID: "min-spacing", Level: Critical, Exact: true,
		Summary: "The client waits before every retry; it never sends again at once.",
		Measure: "Waits from the end of a failed attempt to the next arrival, those that a Retry-After directed left out. Where the contract's " +
			"initial backoff and jitter give a shortest wait, none may be shorter. Where full jitter is allowed a single short wait is lawful: " +
			"then waits fail that are so short together that a client drawing each between 0 and the initial backoff (50 ms if the " +
			"contract names none) shows them less than once in 10,000 runs.",
		Why: "A retry that comes at once meets the same failure, and a loop without waits is a storm made by one client: 40 requests a " +
			"second from one script, hundreds a minute from one phone.",
		Fix: "Wait before each retry, the first included: initial backoff of some 100 ms or more, with jitter. Look for a first wait of zero " +
			"(urllib3's backoff_factor starts with the second retry), delays that overflow to zero or below after some 40 doublings, and " +
			"milliseconds taken for seconds.",
		Source:  "AWS, \"Exponential Backoff and Jitter\" (2015); Google SRE book, chapter 22; incidents S0 (0.1 s cycle) and S1 (25 ms cycle)",
		Samples: Samples{Calls: 20, Gaps: 1},
		New: func(c *Contract) Clause {
			return &MinSpacing{Min: c.Backoff.shortest(), Base: c.Backoff.Delay(1)}
		},
	})
}

// MinSpacing promises a wait before every retry.
type MinSpacing struct {
	Min       time.Duration `yaml:"min" doc:"no wait is shorter; default what backoff.initial and backoff.jitter give, 0 where full jitter is allowed"`
	Base      time.Duration `yaml:"base" doc:"smallest initial backoff, before jitter; default backoff.initial, else 50 ms"`
	FirstFree bool          `yaml:"first-free" doc:"true: the first retry of a call may come at once; default false"`
}

// ID names the clause.
func (p MinSpacing) ID() string { return "min-spacing" }

// Validate finds parameters that make no sense.
func (p *MinSpacing) Validate(n strict.Node) {
	atLeast(n, "min", p.Min, 0)
	atLeast(n, "base", p.Base, time.Millisecond)
}

// hurry collects waits that may be too short together.
type hurry struct {
	waits []time.Duration
	late  time.Duration   // by which the machine usually was, in the worst of them
	shown []journal.Entry // a few failed attempts with their hasty successors
}

func (h *hurry) add(c *Call, i int, wait, short time.Duration) {
	h.waits = append(h.waits, wait)
	h.late = max(h.late, c.Run.Noise.P50(endOf(&c.Attempts[i]), c.Attempts[i+1].At))
	if wait < short && len(h.shown) < 6 {
		h.shown = append(h.shown, c.Attempts[i], c.Attempts[i+1])
	}
}

func (h *hurry) median() time.Duration { return h.waits[len(h.waits)/2] }

// brief reports whether the waits are so short that a client without any may have been seen on a late machine.
func (h *hurry) brief(base time.Duration) bool { return h.median() < base/5+2*h.late }

// excuse says what may have made brief waits, and that so many more calls or a quieter machine would tell.
func (h *hurry) excuse(base time.Duration, more string) string {
	if h.median() < base/5 {
		return "which jitter can do by chance; " + more + " would tell"
	}
	return "of which the machine, usually late by " + span(h.late) + ", may have made a part; a quieter one would tell"
}

// chance is how likely a client that keeps to jitter waits so little; it sorts the waits.
func (h *hurry) chance(base time.Duration) float64 {
	slices.Sort(h.waits)
	return infer.ShortChance(h.waits, base)
}

// Check measures waits one by one against the floor, and together against what jitter can explain.
func (p MinSpacing) Check(calls []Call) Result {
	if p.Base <= 0 {
		p.Base = 50 * time.Millisecond
	}
	t := tally{id: p.ID()}
	var first, all hurry
	var later [laterRetries]hurry
	var loop hotLoop
	shortest, rounded := maxTime, rounded(calls)
	for i := range calls {
		c := &calls[i]
		hot, short, seen := hotLoop{call: c}, -1, false
		for k, wait := range ownWaits(c) {
			if excused(c, k) || k == 0 && p.FirstFree {
				continue
			}
			seen = true
			shortest = min(shortest, wait)
			all.add(c, k, wait+rounded, p.Base/4)
			switch {
			case k == 0:
				first.add(c, k, wait+rounded, p.Base/4)
			case k <= laterRetries:
				later[k-1].add(c, k, wait+rounded, p.Base/4)
			}
			loop = loop.worse(hot.next(k, wait, rounded, p.Base))
			if wait < p.Min-c.Run.Noise.Early(p.Min) && (short < 0 || wait < c.Gap(short)) {
				short = k
			}
		}
		switch {
		case short >= 0:
			t.breach(c, float64(p.Min-c.Gap(short)), func() (string, []journal.Entry) {
				text := fmt.Sprintf("attempt %d came %s after %s; the contract says not before %s", short+2,
					span(max(0, c.Gap(short))), after(&c.Attempts[short]), span(p.Min))
				return text, c.Attempts[short : short+2]
			})
		case seen:
			t.keep(true)
		}
	}
	if t.broken == 0 {
		if r, ok := p.together(loop, first, later[:], all); ok {
			return r
		}
	}
	return t.result(fmt.Sprintf("every retry waited, %s at least", span(shortest)),
		"no call was retried after a wait of the client's own choice", "")
}

// excused reports whether attempt k may be repeated at once: the first 408, 421 or 425 asks for another connection or a
// finished handshake, not for patience.
func excused(c *Call, k int) bool {
	s := c.Attempts[k].Status
	return (s == 408 || s == 421 || s == 425) && (k == 0 || c.Attempts[k-1].Status != s)
}

// together judges what no single wait shows.
func (p MinSpacing) together(loop hotLoop, first hurry, later []hurry, all hurry) (Result, bool) {
	r := Result{Clause: p.ID(), Verdict: Fail}
	firstChance, allChance := first.chance(p.Base), all.chance(p.Base)
	loopChance := loop.chance * float64(len(all.waits))
	one, oneChance := p.hastiest(later)
	switch {
	case len(all.waits) == 0:
		return r, false
	case loopChance < spacingAlpha*0.5:
		r.Chance = loopChance
		r.Detail = named(loop.call.Client) + " sent " + loop.text()
		r.Witness = loop.call.Attempts[loop.first : loop.first+min(loop.waits, 3)+1]
	case firstChance < spacingAlpha*0.3:
		r.Chance = firstChance
		r.Detail = fmt.Sprintf("the first retry came %s after the failure (median of %s); %s", span(first.median()), plural(len(first.waits), "call"), p.wanted())
		r.Witness = first.shown
	case oneChance < spacingAlpha*0.1:
		r.Chance = oneChance
		r.Detail = fmt.Sprintf("retry %d came %s after the failure (median of %s); %s", one+2, span(later[one].median()), plural(len(later[one].waits), "call"), p.wanted())
		r.Witness = later[one].shown
	case allChance < spacingAlpha*0.1:
		r.Chance = allChance
		r.Detail = fmt.Sprintf("retries came %s after the failure (median of %d); %s", span(all.median()), len(all.waits), p.wanted())
		r.Witness = all.shown
	case len(first.waits) > 0 && first.brief(p.Base):
		r.Verdict = Inconclusive
		r.Detail = fmt.Sprintf("the first retry came %s after the failure (median of %s), %s", span(first.median()), plural(len(first.waits), "call"),
			first.excuse(p.Base, fmt.Sprintf("%d calls", p.enough(first.median()))))
	case len(all.waits) > 2 && all.brief(p.Base):
		r.Verdict = Inconclusive
		r.Detail = fmt.Sprintf("retries came %s after the failure (median of %d), %s", span(all.median()), len(all.waits), all.excuse(p.Base, "more calls"))
	default:
		return r, false
	}
	return r, true
}

// laterRetries is how many retries after the first are looked at one by one: a single one may lack its wait.
const laterRetries = 4

// hastiest finds the retry whose waits are the least likely, and how likely it is that one of them all is so.
func (p MinSpacing) hastiest(later []hurry) (worst int, chance float64) {
	chance = 1
	for k := range later {
		if own := later[k].chance(p.Base) * float64(len(later)); len(later[k].waits) > 0 && own < chance {
			worst, chance = k, own
		}
	}
	return worst, chance
}

func (p MinSpacing) wanted() string {
	return fmt.Sprintf("the contract wants a wait, and even waits drawn between 0 and %s are that short less than once in 10,000 runs", span(p.Base))
}

// enough is how many calls with such a first wait decide.
func (p MinSpacing) enough(wait time.Duration) int {
	n := 2
	for n < 100 && infer.ShortChance(slices.Repeat([]time.Duration{wait}, n), p.Base) >= spacingAlpha*0.3 {
		n++
	}
	return n
}

// hotLoop is a run of attempts in one call with hardly a wait between them.
type hotLoop struct {
	call   *Call
	first  int // index of the attempt before the run
	waits  int
	sum    time.Duration
	chance float64
}

// text says which attempts came at once.
func (h *hotLoop) text() string {
	first, last := h.first+2, h.first+1+h.waits
	if first == last {
		return fmt.Sprintf("attempt %d at once, %s after the failure before; the contract wants a wait", first, span(h.sum))
	}
	return fmt.Sprintf("attempts %d to %d at once, %s after the failure before on average; the contract wants a wait before each",
		first, last, span(h.sum/time.Duration(h.waits)))
}

// next extends the run by the wait after attempt k, or starts anew. What times are rounded to can hide that much of the
// whole run, however many waits it has.
func (h *hotLoop) next(k int, wait, rounded, base time.Duration) hotLoop {
	if wait >= base/5+rounded || h.waits > 0 && k != h.first+h.waits {
		h.waits, h.sum = 0, 0
	}
	if wait < base/5+rounded {
		if h.waits == 0 {
			h.first = k
		}
		h.waits++
		h.sum += wait
	}
	h.chance = infer.SumChance(h.waits, h.sum+rounded, base)
	return *h
}

// worse is the less lawful of two runs.
func (h hotLoop) worse(other hotLoop) hotLoop {
	if h.call == nil || other.chance < h.chance || other.chance == h.chance && other.waits > h.waits {
		return other
	}
	return h
}
