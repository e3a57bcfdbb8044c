package assert_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// trial is one run of some client on a machine, as the journal shows it.
type trial func(w *world) []assert.Call

// chances are the histories by which a clause shows how often it is wrong: lawful ones that it must not fail, and broken ones
// that it must, each with the sample size that it states.
type chances struct {
	clause assert.Clause
	lawful map[string]trial
	broken map[string]trial
	// Bent: a machine that bends times hides the breach. It may then be left undecided, but never pass.
	bent bool
}

// chains are calls by as many clients at once, with so many retries each.
func chains(p policy, calls, retries int) trial {
	return answered(journal.Entry{Status: 503}, p, calls, retries)
}

// answered are chains in which each attempt gets the same answer, within a millisecond.
func answered(with journal.Entry, p policy, calls, retries int) trial {
	return func(w *world) []assert.Call {
		list, until := make([]assert.Call, calls), 0.0
		for i := range list {
			list[i].Client = "c" + strconv.Itoa(i)
			due, prev := 0.0, 0.0
			for k := range retries + 1 {
				e := with
				e.Client, e.Method, e.Path, e.BodyWhole, e.Took = list[i].Client, "GET", "/", true, ms
				if k > 0 {
					prev = p(w.Rand, k, prev)
					due = w.comes(due + 0.001 + prev)
				}
				e.At = seconds(due)
				list[i].Attempts = append(list[i].Attempts, e)
			}
			until = max(until, due)
		}
		return watchedBy(w, list, until)
	}
}

func watchedBy(w *world, list []assert.Call, until float64) []assert.Call {
	run := w.run(until)
	for i := range list {
		list[i].Run = run
	}
	return list
}

// timeouts are calls without answers, given up after wait seconds each and sent again after a pause.
func timeouts(wait, pause float64, calls, retries int, closes bool) trial {
	return func(w *world) []assert.Call {
		list, until := make([]assert.Call, calls), 0.0
		for i := range list {
			list[i].Client = "c" + strconv.Itoa(i)
			due := w.Float64()
			for range retries + 1 {
				e := journal.Entry{Client: list[i].Client, Method: "GET", Path: "/", BodyWhole: true, Fault: "hang", At: seconds(due)}
				left := w.comes(due + wait) // when the server hears of it
				if e.Took = seconds(left - due); closes {
					e.Gone = seconds(left)
				} else {
					e.Took = seconds(2 * (wait + pause))
					e.Cut = true
				}
				due = w.comes(due + wait + pause)
				list[i].Attempts = append(list[i].Attempts, e)
				until = max(until, left, due)
			}
		}
		return watchedBy(w, list, until+5)
	}
}

// deadline are calls that a client breaks off after so many seconds, whatever attempt it is at.
func deadline(within float64, calls int) trial {
	return func(w *world) []assert.Call {
		list, until := make([]assert.Call, calls), 0.0
		for i := range list {
			list[i].Client = "c" + strconv.Itoa(i)
			began := w.Float64()
			for due := began; due < began+within-0.2; due = w.comes(due + 2.5) {
				left := w.comes(min(due+2, began+within))
				list[i].Attempts = append(list[i].Attempts, journal.Entry{
					Client: list[i].Client, Method: "GET", Path: "/", BodyWhole: true, At: seconds(due), Took: seconds(left - due), Gone: seconds(left), Fault: "hang",
				})
				until = max(until, left)
			}
		}
		return watchedBy(w, list, until)
	}
}

// giveUp are calls whose caller cancels after 2.2 s; the client goes on for so many attempts.
func giveUp(after, calls int) trial {
	return func(w *world) []assert.Call {
		list := chains(within(exponential(1, 1), 1, 1), calls, 2+after)(w)
		list[0].Run.Cancelled = seconds(2.2)
		return list
	}
}

// polls ask every so many seconds, give or take a tenth, and get failures.
func polls(every float64, times, clients int) trial {
	return func(w *world) []assert.Call {
		list, until := make([]assert.Call, 0, times*clients), 0.0
		for c := range clients {
			due := every * w.Float64()
			for range times {
				e := journal.Entry{Client: "c" + strconv.Itoa(c), Method: "GET", Path: "/", BodyWhole: true, Status: 503, Took: ms, At: seconds(w.comes(due))}
				list = append(list, assert.Call{Client: e.Client, Attempts: []journal.Entry{e}})
				due += every * (0.96 + 0.1*w.Float64())
			}
			until = max(until, due)
		}
		return watchedBy(w, list, until)
	}
}

// workers are calls that one client makes side by side, each about every 400 ms. Asked to wait 3 s, they do; or each finds
// that out for itself.
func workers(n int, together bool) trial {
	return func(w *world) []assert.Call {
		var list []assert.Call
		dues := make([]float64, n)
		for i := range dues {
			dues[i] = 0.4 * w.Float64()
		}
		firsts := make([]float64, n)
		for i, due := range dues {
			firsts[i] = w.comes(due)
		}
		first := slices.Min(firsts)
		quiet := first + 0.001 // from when on the client knows that it has to wait
		for i := range dues {
			for due := dues[i]; due < 8; due += 0.3 + 0.2*w.Float64() {
				if together && due > quiet && due < quiet+3 {
					due = quiet + 3 + 0.1*w.Float64()
				}
				at := firsts[i]
				if due != dues[i] {
					at = w.comes(due)
				}
				e := journal.Entry{Client: "a", Method: "GET", Path: "/" + strconv.Itoa(len(list)), BodyWhole: true, Status: 200, Took: ms, At: seconds(at)}
				if at < first+3 {
					e.Status, e.RetryAfter = 429, "3"
				}
				list = append(list, assert.Call{Client: "a", Attempts: []journal.Entry{e}})
			}
		}
		return watchedBy(w, list, 12)
	}
}

// copies are calls of which a share has a copy after 1 s, which wins.
func copies(share float64, calls int) trial {
	return func(w *world) []assert.Call {
		list := make([]assert.Call, calls)
		for i := range list {
			at := time.Duration(i) * 10 * ms
			e := journal.Entry{Client: "a", Call: strconv.Itoa(i), Method: "GET", Path: "/", BodyWhole: true, Status: 200, Took: 20 * ms, At: at}
			list[i] = assert.Call{Client: "a", Attempts: []journal.Entry{e}}
			if w.even(0) < share {
				slow, copied := e, e
				copied.At = seconds(w.comes(at.Seconds() + 1))
				slow.Status, slow.Gone = 0, seconds(w.comes((copied.At + copied.Took).Seconds()))
				slow.Took = slow.Gone - at
				list[i].Attempts = []journal.Entry{slow, copied}
			}
		}
		return watchedBy(w, list, 10)
	}
}

// toldWaits come back after so many seconds where an answer asks for two.
func toldWaits(p policy, calls int) trial {
	return answered(journal.Entry{Status: 429, RetryAfter: "2"}, p, calls, 1)
}

func capped(delay func(int) float64, most float64) func(int) float64 {
	return func(k int) float64 { return min(most, delay(k)) }
}

// atOnceFirst repeats a 408 at once, as RFC 9110 allows, and then waits.
func atOnceFirst(p policy) policy {
	return func(r *rand.Rand, k int, prev float64) float64 {
		if k == 1 {
			return 0
		}
		return p(r, k-1, prev)
	}
}

var doubling = exponential(1, 2)

// lawfulPolicies are the waits of good clients.
func lawfulPolicies(calls, retries int) map[string]trial {
	list := map[string]trial{}
	for name, p := range map[string]policy{
		"full jitter":           within(doubling, 0, 1),
		"full jitter on 50 ms":  within(exponential(0.05, 2), 0, 1),
		"full jitter, x1.5":     within(exponential(1, 1.5), 0, 1),
		"full jitter, linear":   within(func(k int) float64 { return float64(k) }, 0, 1),
		"equal jitter":          within(doubling, 0.5, 1),
		"+-10 % of 200 ms":      within(exponential(0.2, 2), 0.9, 1.1),
		"+-20 %, gRPC":          within(exponential(1, 1.6), 0.8, 1.2),
		"+-50 %, x1.5":          within(exponential(0.5, 1.5), 0.5, 1.5),
		"decorrelated":          decorrelated(0.5, 30),
		"0 to 100 ms added":     plus(doubling, 0.1),
		"0 to 1 s added":        plus(doubling, 1),
		"azcore":                within(func(k int) float64 { return 0.8 * (math.Pow(2, float64(k)) - 1) }, 0.8, 1.3),
		"full jitter up to 2 s": within(capped(doubling, 2), 0, 1),
	} {
		list[name] = chains(p, calls, retries)
	}
	return list
}

// allChances has a row for each clause that chance or a slow machine can bend.
var allChances = []chances{
	{
		clause: assert.MinSpacing{}, lawful: lawfulPolicies(10, 3), bent: true,
		broken: map[string]trial{
			"at once":           chains(within(exponential(0, 1), 1, 1), 10, 3),
			"first at once":     chains(func(_ *rand.Rand, k int, _ float64) float64 { return float64(k - 1) }, 20, 3),
			"in a loop":         chains(within(exponential(0, 1), 1, 1), 1, 30),
			"5 ms, full jitter": chains(within(exponential(0.005, 1), 0, 1), 10, 3),
		},
	},
	{
		clause: assert.MinSpacing{Base: 200 * ms}, lawful: map[string]trial{"full jitter on 200 ms": chains(within(exponential(0.2, 2), 0, 1), 10, 3)},
		broken: map[string]trial{"at once": chains(within(exponential(0, 1), 1, 1), 10, 3), "in a loop": chains(within(exponential(0, 1), 1, 1), 1, 30)},
	},
	{
		clause: assert.MinSpacing{Min: 500 * ms}, lawful: map[string]trial{"equal jitter": chains(within(doubling, 0.5, 1), 10, 3)},
		broken: map[string]trial{"full jitter": chains(within(doubling, 0, 1), 10, 1)},
	},
	{
		clause: assert.BackoffGrowth{}, lawful: lawfulPolicies(20, 3),
		broken: map[string]trial{
			"constant":              chains(within(exponential(1, 1), 1, 1), 20, 3),
			"constant, +-20 %":      chains(within(exponential(1, 1), 0.8, 1.2), 20, 3),
			"constant, +-25 %":      chains(within(exponential(1, 1), 0.75, 1.25), 20, 3),
			"constant, full jitter": chains(within(exponential(1, 1), 0, 1), 250, 4),
			"at once":               chains(within(exponential(0, 1), 1, 1), 20, 5),
		},
	},
	{
		clause: assert.Special4xx{}, bent: true, lawful: map[string]trial{
			"at once, then full jitter on 50 ms": answered(journal.Entry{Status: 408}, atOnceFirst(within(exponential(0.05, 2), 0, 1)), 5, 3),
			"full jitter on 50 ms":               answered(journal.Entry{Status: 408}, within(exponential(0.05, 2), 0, 1), 5, 3),
		},
		broken: map[string]trial{"always at once": answered(journal.Entry{Status: 408}, within(exponential(0, 1), 1, 1), 5, 3)},
	},
	{
		clause: assert.RetryAfterSanity{}, bent: true, lawful: map[string]trial{
			"full jitter on 50 ms": answered(journal.Entry{Status: 503, RetryAfter: "soon"}, within(exponential(0.05, 2), 0, 1), 5, 3),
			"as long as allowed":   answered(journal.Entry{Status: 503, RetryAfter: "soon"}, within(exponential(120, 1), 1, 1), 3, 1),
		},
		broken: map[string]trial{
			"at once":  answered(journal.Entry{Status: 503, RetryAfter: "soon"}, within(exponential(0, 1), 1, 1), 5, 3),
			"too long": answered(journal.Entry{Status: 503, RetryAfter: "soon"}, within(exponential(140, 1), 1, 1), 3, 1),
		},
	},
	{
		clause: assert.HedgeBounded{Hedging: assert.Hedging{After: 900 * ms, Max: 2, Share: 0.05}}, lawful: map[string]trial{"5 %": copies(0.05, 360)},
		broken: map[string]trial{"15 %": copies(0.15, 360)},
	},
	{
		clause: assert.JitterPresent{}, lawful: lawfulPolicies(10, 3), bent: true,
		broken: map[string]trial{
			"doubling 1 s":      chains(within(doubling, 1, 1), 10, 3),
			"constant 2 s":      chains(within(exponential(2, 1), 1, 1), 10, 3),
			"doubling 1 s, 20x": chains(within(doubling, 1, 1), 20, 3),
		},
	},
	{
		clause: assert.JitterRange{Curve: assert.Delays{Initial: time.Second, Multiplier: 2, Jitter: assert.Jitter{Form: assert.JitterFull}}}, bent: true,
		lawful: map[string]trial{"full jitter": chains(within(doubling, 0, 1), 10, 3)},
		broken: map[string]trial{
			"none":         chains(within(doubling, 1, 1), 10, 3),
			"equal jitter": chains(within(doubling, 0.5, 1), 20, 3),
			"+-50 %":       chains(within(doubling, 0.5, 1.5), 20, 3),
		},
	},
	{
		clause: assert.HerdIndex{}, lawful: lawfulPolicies(30, 3), bent: true,
		broken: map[string]trial{
			"doubling 1 s": chains(within(doubling, 1, 1), 30, 3),
		},
	},
	{
		clause: assert.DelayCap{Max: 2 * time.Second}, bent: true,
		lawful: map[string]trial{
			"capped":              chains(within(capped(doubling, 2), 1, 1), 10, 4),
			"full jitter, capped": chains(within(capped(doubling, 2), 0, 1), 10, 4),
		},
		broken: map[string]trial{"uncapped": chains(within(doubling, 1, 1), 10, 4)},
	},
	{
		clause: assert.RetryAfterNotLate{}, bent: true,
		lawful: map[string]trial{
			"as told":        toldWaits(within(exponential(2, 1), 1, 1), 5),
			"half as long":   toldWaits(within(exponential(2, 1), 1.5, 1.5), 5),
			"jitter on top":  toldWaits(within(exponential(2, 1), 1, 1.5), 5),
			"as told, often": toldWaits(within(exponential(2, 1), 1.5, 1.5), 20),
		},
		broken: map[string]trial{"thrice as long": toldWaits(within(exponential(2, 1), 3, 3), 5)},
	},
	{
		clause: assert.AttemptTimeout{Min: time.Second, Max: 5 * time.Second}, bent: true,
		lawful: map[string]trial{"5 s": timeouts(5, 1, 3, 3, true), "1 s": timeouts(1, 1, 3, 3, true)},
		broken: map[string]trial{"8 s": timeouts(8, 1, 3, 3, true), "200 ms": timeouts(0.2, 1, 3, 3, true)},
	},
	{
		clause: assert.TotalDeadline{Within: 10 * time.Second}, bent: true,
		lawful: map[string]trial{"cut at 10 s": deadline(10, 10)},
		broken: map[string]trial{"cut at 20 s": deadline(20, 10)},
	},
	{
		clause: assert.SingleFlight{}, bent: true,
		lawful: map[string]trial{"again at once": timeouts(2, 0, 20, 3, true), "after a wait": timeouts(2, 0.2, 20, 3, true)},
		broken: map[string]trial{"leaves it open": timeouts(2, 0.2, 20, 3, false)},
	},
	{
		clause: assert.PollCadence{Every: 3 * time.Second}, bent: true,
		lawful: map[string]trial{"every 3 s": polls(3, 20, 3)},
		broken: map[string]trial{"every 1.5 s": polls(1.5, 20, 3)},
	},
	{
		clause: assert.NoRetryAfterCancel{}, bent: true,
		lawful: map[string]trial{"stops": giveUp(0, 6)},
		broken: map[string]trial{"goes on": giveUp(2, 6)},
	},
	{
		clause: assert.ThrottleScope{}, bent: true,
		lawful: map[string]trial{"all workers wait": workers(10, true)},
		broken: map[string]trial{"each for itself": workers(10, false)},
	},
}
