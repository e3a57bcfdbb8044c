package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// reusing are n clients that retry three times each, over one connection or a new one for each attempt.
func reusing(n int, reuse bool) *history.Builder {
	return clients(n, func(i int, h *history.Builder) {
		if reuse {
			h.Conn(uint64(i + 1))
		}
		for k := range 4 {
			h.Attempt(ns(k)*s, ms, 503).With(func(e *journal.Entry) { e.Fault = "oversize" })
		}
	})
}

// closing are n clients that want each connection closed, as HTTP libraries without a pool do.
func closing(n int) *history.Builder {
	return clients(n, func(_ int, h *history.Builder) {
		for k := range 4 {
			h.Attempt(ns(k)*s, ms, 503).With(func(e *journal.Entry) { e.Fault, e.Closing = "oversize", true })
		}
	})
}

// idling are n clients that retry once, over another connection, after a wait.
func idling(n int, wait ns) *history.Builder {
	return clients(n, func(_ int, h *history.Builder) {
		for k := range 2 {
			h.Attempt(ns(k)*(ms+wait), ms, 503).With(func(e *journal.Entry) { e.Fault = "oversize" })
		}
	})
}

func TestConnectionDiscipline(t *testing.T) {
	const none = "no retry followed a whole answer over a connection that could be used again"
	check(t, assert.ConnectionDiscipline{}, []row{
		{name: "one connection", history: reusing(7, true), want: assert.Pass,
			detail: "0 of 21 retries came over a new connection although the one before had brought a whole answer"},
		{name: "one for each attempt", history: reusing(7, false), want: assert.Fail, witness: []uint64{1, 8, 8, 15, 15, 22},
			detail: "21 of 21 retries came over a new connection although the one before had brought a whole answer; the contract allows 20 %"},
		{name: "one for each attempt, as agreed", clause: assert.ConnectionDiscipline{Share: 1}, history: reusing(7, false), want: assert.Pass,
			detail: "21 of 21 retries came over a new connection although the one before had brought a whole answer"},
		{name: "one for each attempt, too few", history: reusing(6, false), want: assert.Inconclusive,
			detail: "18 of 18 retries came over a new connection although the one before had brought a whole answer; 20 retries would tell"},
		{name: "a client that keeps no connection", history: closing(7), want: assert.NotExercised, detail: none},
		{name: "after a wait that connections outlast", history: idling(20, 4*s), want: assert.Fail, witness: []uint64{1, 21, 2, 22, 3, 23},
			detail: "20 of 20 retries came over a new connection although the one before had brought a whole answer; the contract allows 20 %"},
		{name: "after a wait at which undici has closed it", history: idling(20, 4*s+5*ms), want: assert.NotExercised, detail: none},
		{name: "an upstream that may have closed it", history: history.New().Retries(0, 503, repeat(30, s)...), want: assert.NotExercised, detail: none},
		{name: "421 asks for another", history: history.New().Retries(0, 421, 0), want: assert.NotExercised, detail: none},
		{name: "resets that are backed off from", history: resets(5, s), want: assert.NotExercised, detail: none},
		{name: "three connections a second for half a minute", history: evenly(90, s/3), want: assert.Fail,
			witness: []uint64{17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27}, detail: "a made 30 connections within 10 s that broke without an answer; the contract allows 10"},
		{name: "a burst and then no more", history: evenly(14, s/3), want: assert.NotExercised, detail: none},
	})
}

// evenly is a client whose connections are reset, n of them at the same distance.
func evenly(n int, wait ns) *history.Builder {
	h := history.New()
	for i := range n {
		h.Cut(ns(i)*wait, 0)
	}
	return h
}
