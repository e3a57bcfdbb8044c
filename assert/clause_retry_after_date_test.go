package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestRetryAfterDate(t *testing.T) {
	began := time.Date(2006, 1, 2, 15, 4, 5, 900_000_000, time.UTC)
	run := &assert.Run{Ended: true, Began: began, Noise: calm}
	// The answer came at 15:04:05.9 and names 15:04:08, 2.1 s later: "now+3 s" without the part of a second.
	told := func(value string, at time.Duration) *history.Builder {
		return history.New().Attempt(0, 0, 429).RetryAfter(value).Attempt(at, ms, 200)
	}
	// A server whose clock is an hour ahead says so in its Date.
	ahead := func(at time.Duration) *history.Builder {
		return history.New().Attempt(0, 0, 429).RetryAfter("Mon, 02 Jan 2006 16:04:09 GMT").With(func(e *journal.Entry) {
			e.Rare = &journal.Rare{Told: journal.Told{Date: "Mon, 02 Jan 2006 16:04:06 GMT"}}
		}).Attempt(at, ms, 200)
	}
	const imf = "Mon, 02 Jan 2006 15:04:08 GMT"
	check(t, assert.RetryAfterDate{}, []row{
		{name: "comes at that very instant", history: told(imf, 2100*ms), run: run,
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked (1 call)"},
		{name: "comes 1 ms early", history: told(imf, 2099*ms), run: run,
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked (1 call)"},
		{name: "waits whole seconds", history: told(imf, 3*s), run: run,
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked (1 call)"},
		{name: "reads a date as 0", history: told(imf, 2*ms), run: run,
			want: assert.Fail, detail: "attempt 2 came 2 ms after a 429 that asked for 2.10 s (Retry-After: Mon, 02 Jan 2006 15:04:08 GMT); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "uses its own backoff", history: told(imf, s), run: run,
			want: assert.Fail, detail: "attempt 2 came 1 s after a 429 that asked for 2.10 s (Retry-After: Mon, 02 Jan 2006 15:04:08 GMT); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "RFC 850", history: told("Monday, 02-Jan-06 15:04:08 GMT", s), run: run,
			want: assert.Fail, detail: "attempt 2 came 1 s after a 429 that asked for 2.10 s (Retry-After: Monday, 02-Jan-06 15:04:08 GMT); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "asctime", history: told("Mon Jan  2 15:04:08 2006", s), run: run,
			want: assert.Fail, detail: "attempt 2 came 1 s after a 429 that asked for 2.10 s (Retry-After: Mon Jan  2 15:04:08 2006); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "a clock that is ahead by a second", clause: assert.RetryAfterDate{Skew: s}, history: told(imf, 1100*ms), run: run,
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked (1 call)"},
		{name: "gives up", history: history.New().Attempt(0, ms, 503).RetryAfter(imf), run: run,
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked; 1 call ended with such an answer, which is lawful (1 call)"},
		{name: "counts from the answer's own Date", history: ahead(3 * s), run: run,
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked (1 call)"},
		{name: "comes sooner than by either clock", history: ahead(2 * s), run: run,
			want: assert.Fail, detail: "attempt 2 came 2 s after a 429 that asked for 3 s (Retry-After: Mon, 02 Jan 2006 16:04:09 GMT); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "a date in the past binds nothing", history: told("Mon, 02 Jan 2006 15:04:00 GMT", ms), run: run,
			want: assert.NotExercised, detail: "no call met an answer whose Retry-After names a date to come"},
		{name: "seconds are another clause's", history: told("2", ms), run: run,
			want: assert.NotExercised, detail: "no call met an answer whose Retry-After names a date to come"},
		{name: "not watched until then", history: history.New().Attempt(0, ms, 503).RetryAfter(imf), run: &assert.Run{Until: s, Began: began},
			want: assert.Inconclusive, detail: "no attempt came sooner than Retry-After asked, but it was not watched for that long (1 call)"},
		{name: "nobody knows when the run began", history: told(imf, ms),
			want: assert.Inconclusive, detail: "the history does not say at what time of day it began, so dates in headers cannot be compared with it"},
	})
}
