package assert_test

import (
	"strconv"
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestRedirectBound(t *testing.T) {
	to := func(location string) func(*journal.Entry) {
		return func(e *journal.Entry) { e.Rare = &journal.Rare{Told: journal.Told{Location: location}} }
	}
	// tries makes as many tries at a chain without an end, each of so many requests, with a wait between.
	tries := func(n, requests int, wait ns) *history.Builder {
		h, at := history.New(), ns(0)
		for range n {
			for i := range requests {
				h.Request("GET", "/"+strconv.Itoa(i)).Attempt(at, ms, 302).With(to("/" + strconv.Itoa(i+1)))
				at += 2 * ms
			}
			at += wait
		}
		return h
	}
	loop := func(n int, wait ns) *history.Builder {
		h := history.New().Request("GET", "/self")
		for i := range n {
			h.Attempt(ns(i)*(ms+wait), ms, 302).With(to("/self"))
		}
		return h
	}
	check(t, assert.RedirectBound{}, []row{
		{name: "as far as Go goes", history: tries(1, 10, 0), want: assert.Pass, detail: "no more than 9 redirects were followed in a row (1 call)"},
		{name: "as far as agreed", history: redirecting(21), want: assert.Pass, detail: "no more than 20 redirects were followed in a row (1 call)"},
		{name: "one further", history: redirecting(22), want: assert.Fail, witness: []uint64{1, 2, 22},
			detail: "a followed 21 redirects in a row; the contract says 20 at most, and then an error"},
		{name: "to itself for ever", history: loop(100, 0), want: assert.Fail, witness: []uint64{1, 2, 100},
			detail: "a followed 99 redirects in a row; the contract says 20 at most, and then an error"},
		{name: "three tries", history: tries(3, 10, s), want: assert.Pass, detail: "no more than 9 redirects were followed in a row (1 call)"},
		{name: "thirty tries at one that leads to itself, not followed", history: loop(30, s), want: assert.Pass, detail: "no more than 0 redirects were followed in a row (1 call)"},
		{name: "two at most, by contract", clause: assert.RedirectBound{Max: 2}, history: tries(1, 4, 0), want: assert.Fail, witness: []uint64{1, 2, 4},
			detail: "a followed 3 redirects in a row; the contract says 2 at most, and then an error"},
		{name: "not followed", history: history.New().Attempt(0, ms, 302).With(to("/b")), want: assert.Pass, detail: "no more than 0 redirects were followed in a row (1 call)"},
		{name: "not modified", history: history.New().Retries(0, 304, 0), want: assert.NotExercised, detail: "no call was redirected"},
		{name: "may go on", history: tries(1, 3, 0), run: &assert.Run{Until: s}, want: assert.Inconclusive,
			detail: "no more than 2 redirects were followed in a row, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}
