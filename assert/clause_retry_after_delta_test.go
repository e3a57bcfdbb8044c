package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestRetryAfterDelta(t *testing.T) {
	// told is a client that is told to wait, and does so for a while.
	told := func(status int, value string, wait time.Duration) *history.Builder {
		return history.New().Attempt(0, ms, status).RetryAfter(value).Attempt(ms+wait, ms, 200)
	}
	check(t, assert.RetryAfterDelta{}, []row{
		{name: "waits exactly", history: told(429, "2", 2*s),
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked (1 call)"},
		{name: "comes 1 ms early", history: told(503, "2", 2*s-ms),
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked (1 call)"},
		{name: "takes seconds for milliseconds", history: told(429, "2", 2*ms),
			want: assert.Fail, detail: "attempt 2 came 2 ms after a 429 that asked for 2 s (Retry-After: 2); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "uses its own backoff", history: told(503, "2", 500*ms),
			want: assert.Fail, detail: "attempt 2 came 500 ms after a 503 that asked for 2 s (Retry-After: 2); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "comes 5 % early", history: told(503, "2", 1900*ms),
			want: assert.Fail, detail: "attempt 2 came 1.90 s after a 503 that asked for 2 s (Retry-After: 2); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "gives up", history: history.New().Attempt(0, ms, 429).RetryAfter("86400"),
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked; 1 call ended with such an answer, which is lawful (1 call)"},
		{name: "has not waited long enough yet", history: history.New().Attempt(0, ms, 429).RetryAfter("60"), run: &assert.Run{Until: 30 * s},
			want: assert.Inconclusive, detail: "no attempt came sooner than Retry-After asked, but it was not watched for that long (1 call)"},
		{name: "would have come too early by now", history: history.New().Attempt(0, ms, 429).RetryAfter("60"), run: &assert.Run{Until: 61 * s},
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked; 1 call ended with such an answer, which is lawful (1 call)"},
		{name: "clamps to 30 s", history: told(429, "61", 30*s),
			want: assert.Fail, detail: "attempt 2 came 30 s after a 429 that asked for 1m1s (Retry-After: 61); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "the contract lets it wait 2 minutes at most", clause: assert.RetryAfterDelta{Max: 2 * time.Minute, Longer: assert.EitherWay}, history: told(429, "9999999999", 121*s),
			want: assert.Pass, detail: "no attempt came sooner than Retry-After asked (1 call)"},
		{name: "but not less", clause: assert.RetryAfterDelta{Max: 2 * time.Minute, Longer: assert.EitherWay}, history: told(429, "86400", 30*s),
			want: assert.Fail, detail: "attempt 2 came 30 s after a 429 that asked for 24h (Retry-After: 86400); the contract says not sooner than after 2m", witness: []uint64{1, 2}},
		{name: "where it has to give up, waiting less is a breach", clause: assert.RetryAfterDelta{Max: 2 * time.Minute}, history: told(429, "86400", 130*s),
			want: assert.Fail, detail: "attempt 2 came 2m10s after a 429 that asked for 24h (Retry-After: 86400); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "the timer overflows", history: told(429, "2147484", ms),
			want: assert.Fail, detail: "attempt 2 came 1 ms after a 429 that asked for 596h31m24s (Retry-After: 2147484); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "worst of several", history: clients(3, func(i int, h *history.Builder) {
			h.Attempt(0, ms, 429).RetryAfter("1").Attempt(ms+s-ns(i)*400*ms, ms, 200)
		}), want: assert.Fail, detail: "attempt 2 came 200 ms after a 429 that asked for 1 s (Retry-After: 1); the contract says not sooner (c2; 2 of 3 calls)", witness: []uint64{3, 4}},

		{name: "0 binds nothing", history: told(429, "0", ms),
			want: assert.NotExercised, detail: "no call met an answer whose Retry-After asks for seconds"},
		{name: "junk binds nothing", history: told(429, "soon", ms),
			want: assert.NotExercised, detail: "no call met an answer whose Retry-After asks for seconds"},
		{name: "500 is not honoured in the contract", history: told(500, "2", ms),
			want: assert.NotExercised, detail: "no call met an answer whose Retry-After asks for seconds"},
		{name: "413 is", history: told(413, "2", ms),
			want: assert.Fail, detail: "attempt 2 came 1 ms after a 413 that asked for 2 s (Retry-After: 2); the contract says not sooner", witness: []uint64{1, 2}},
		{name: "an answer that was cut off may not have been read", history: history.New().Attempt(0, ms, 503).RetryAfter("2").
			With(func(e *journal.Entry) { e.Cut = true }).Attempt(s, ms, 200), want: assert.NotExercised, detail: "no call met an answer whose Retry-After asks for seconds"},
		{name: "sent before the answer came", history: history.New().Attempt(0, s, 503).RetryAfter("2").Attempt(500*ms, ms, 200),
			want: assert.NotExercised, detail: "no call met an answer whose Retry-After asks for seconds"},
		{name: "a date is another clause's", history: told(429, "Mon, 02 Jan 2006 15:04:07 GMT", ms),
			want: assert.NotExercised, detail: "no call met an answer whose Retry-After asks for seconds"},
		{name: "no header", history: history.New().Retries(0, 429, ms),
			want: assert.NotExercised, detail: "no call met an answer whose Retry-After asks for seconds"},
	})
}
