package infer

import (
	"slices"
	"time"
)

// RetryAfter is what the client does with the wait that an answer asks for. Durations are in milliseconds.
type RetryAfter struct {
	Verdict    Heed     `json:"verdict"`
	Confidence float64  `json:"confidence"`
	Met        int      `json:"met"`                   // answers that asked for a wait
	KeptUpTo   float64  `json:"kept_up_to_ms"`         // longest wait that was asked for and kept
	Cap        *Range   `json:"cap_ms,omitempty"`      // what longer waits are cut to
	GivesUp    *Range   `json:"gives_up_ms,omitempty"` // asked for longer than this, the client gives up: between Low, which it kept, and High
	Added      float64  `json:"added_ms"`              // what the client waits longer, at most
	Statuses   []string `json:"statuses,omitempty"`    // where it is kept, if it is ignored elsewhere
	Ignored    []string `json:"ignored,omitempty"`     // where it is ignored, if it is kept elsewhere
	Dates      bool     `json:"dates,omitempty"`       // dates were kept too
}

// Heed is how far a Retry-After is heeded.
type Heed string

// The ways.
const (
	HeedUnseen  Heed = "not seen" // no answer asked for a wait
	HeedKept    Heed = "kept"
	HeedCapped  Heed = "capped" // kept up to a limit, and waited that long where more was asked for
	HeedIgnored Heed = "ignored"
	HeedGivesUp Heed = "gives up" // no answer that asked for a wait was tried again
	HeedMixed   Heed = "mixed"
)

// told is one answer that asked for a wait, and what the client did.
type told struct {
	answer      string
	asked, wait time.Duration
	gaveUp      bool
	date        bool
}

// short reports whether the client came back before it was to.
func (t told) short(o Options) bool {
	slack := 2*time.Millisecond + t.asked/100 + o.Resolution
	if t.date {
		slack += time.Second
	}
	return !t.gaveUp && t.wait < t.asked-slack
}

func retryAfterOf(calls []Call, p Policy, o Options) RetryAfter {
	byAnswer := map[string][]told{}
	var all []told
	each(calls, p.Attempts, func(c *Call, i int, again bool) {
		a := &c.Attempts[i]
		if !a.Told || a.Asked <= 0 || !again && i+1 < len(c.Attempts) {
			return
		}
		t := told{answer: a.Answer, asked: a.Asked, gaveUp: !again, date: a.Date}
		if again {
			t.wait = c.wait(i + 1)
		}
		all = append(all, t)
		byAnswer[a.Answer] = append(byAnswer[a.Answer], t)
	})
	if len(all) == 0 {
		return RetryAfter{Verdict: HeedUnseen}
	}
	var kept, ignored []string
	for answer, some := range byAnswer {
		if heed(some, o).Verdict == HeedIgnored {
			ignored = append(ignored, answer)
		} else {
			kept = append(kept, answer)
		}
	}
	slices.Sort(kept)
	slices.Sort(ignored)
	if len(kept) == 0 || len(ignored) == 0 {
		return heed(all, o)
	}
	r := heed(slices.DeleteFunc(all, func(t told) bool { return slices.Contains(ignored, t.answer) }), o)
	r.Statuses, r.Ignored = kept, ignored
	return r
}

// heed judges what was done with the waits that answers asked for.
func heed(all []told, o Options) RetryAfter {
	r := RetryAfter{Met: len(all)}
	var kept, refused, cut, extra []time.Duration
	leastCut := time.Duration(0)
	for _, t := range all {
		switch {
		case t.gaveUp:
			refused = append(refused, t.asked)
		case t.short(o):
			cut = append(cut, t.wait)
			if leastCut == 0 || t.asked < leastCut {
				leastCut = t.asked
			}
		default:
			kept, extra = append(kept, t.asked), append(extra, t.wait-t.asked)
			r.Dates = r.Dates || t.date
		}
	}
	longest := time.Duration(0)
	if len(kept) > 0 {
		longest = slices.Max(kept)
		slices.Sort(extra)
		r.KeptUpTo, r.Added = ms(longest.Seconds()), ms(max(0, extra[len(extra)*85/100].Seconds()))
	}
	if len(refused) > 0 && slices.Min(refused) > longest {
		r.GivesUp = &Range{Value: ms(slices.Min(refused).Seconds()), Low: r.KeptUpTo, High: ms(slices.Min(refused).Seconds())}
	}
	switch {
	case len(cut) == 0 && len(kept) == 0:
		r.Verdict = HeedGivesUp
	case len(cut) == 0:
		r.Verdict = HeedKept
	case len(kept) > 0 && leastCut > longest && slices.Min(cut) >= longest-longest/20 && slices.Max(cut) <= 2*slices.Min(cut):
		r.Verdict = HeedCapped
		low, high := slices.Min(cut).Seconds(), slices.Max(cut).Seconds()
		r.Cap = &Range{ms(roundBetween((low+high)/2, low*0.98, high*1.02)), ms(low), ms(high)}
	case 4*len(cut) >= 3*len(all):
		r.Verdict = HeedIgnored
	default:
		r.Verdict = HeedMixed
	}
	r.Confidence = agreeing(len(all))
	if r.Verdict == HeedMixed {
		r.Confidence = 0.5
	}
	return r
}
