package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestSpecial4xx(t *testing.T) {
	get := history.New
	strictest := assert.StrictResponses().Clone()
	strictest.Set(503, 503, assert.Response{Retry: assert.Once})
	lenient := assert.StrictResponses().Clone()
	lenient.Set(409, 409, assert.Response{Retry: assert.Backoff})
	kept := "408, 409, 421, 423 and 425 were repeated as each allows, or not at all (1 call)"
	check(t, assert.Special4xx{}, []row{
		{name: "421, once, elsewhere", history: get().Retries(0, 421, 0), want: assert.Pass, detail: kept},
		{name: "421, over the same connection", history: get().Conn(1).Retries(0, 421, 0),
			want: assert.Fail, detail: "attempt 2 came 0 ms after a 421; the contract says on another connection only, and this was the same", witness: []uint64{1, 2}},
		{name: "421, twice", history: get().Retries(0, 421, 0, s),
			want: assert.Fail, detail: "attempt 3 came 1 s after a 421; the contract says once at most, and this was the second time after a 421", witness: []uint64{2, 3}},
		{name: "425, then served", history: get().Attempt(0, ms, 425).Attempt(s, ms, 200), want: assert.Pass, detail: kept},
		{name: "425, then 503 with its own retries", history: get().Attempt(0, ms, 425).Retries(s, 503, s, 2*s), want: assert.Pass, detail: kept},
		{name: "425, three times", history: get().Retries(0, 425, s, s),
			want: assert.Fail, detail: "attempt 3 came 1 s after a 425; the contract says once at most, and this was the second time after a 425", witness: []uint64{2, 3}},
		{name: "525, twice", history: get().Retries(0, 525, s, s),
			want: assert.Fail, detail: "attempt 3 came 1 s after a 525; the contract says once at most, and this was the second time after a 525", witness: []uint64{2, 3}},
		{name: "503, once by contract", clause: assert.Special4xx{Table: strictest}, history: get().Retries(0, 503, s, s),
			want: assert.Fail, detail: "attempt 3 came 1 s after a 503; the contract says once at most, and this was the second time after a 503", witness: []uint64{2, 3}},
		{name: "408, once at once as OkHttp does", history: get().Retries(0, 408, 0), want: assert.Pass, detail: kept},
		{name: "408, at once and then with backoff", history: get().Retries(0, 408, 0, s, 2*s), want: assert.Pass, detail: kept},
		{name: "408, a short wait of full jitter", history: get().Retries(0, 408, 0, 3*ms), want: assert.Pass, detail: kept},
		{name: "408, back to back", history: get().Retries(0, 408, 0, ms, ms, ms, ms),
			want: assert.Fail, detail: "after a second 408 in a row the next attempt came 1 ms later (median of 4); the contract says that only the first may be repeated at once",
			witness: []uint64{2, 3, 3, 4, 4, 5}},
		{name: "409", history: get().Retries(0, 409, s), want: assert.Fail,
			detail: "attempt 2 came 1 s after a 409; the contract says never, unless the answer carries Retry-After or the request an idempotency key", witness: []uint64{1, 2}},
		{name: "409, merged", history: post().Attempt(0, ms, 409).Body("another bicycle").Attempt(s, ms, 200), want: assert.Pass, detail: kept},
		{name: "409, keyed", history: post().Key("k").Retries(0, 409, s), want: assert.Pass, detail: kept},
		{name: "409, told when", history: get().Attempt(0, ms, 409).RetryAfter("1").Attempt(s, ms, 200), want: assert.Pass, detail: kept},
		{name: "409, agreed", clause: assert.Special4xx{Table: lenient}, history: get().Retries(0, 409, s, s), want: assert.Pass, detail: kept},
		{name: "423", history: get().Retries(0, 423, s, s), want: assert.Fail,
			detail: "attempt 2 came 1 s after a 423; the contract says never, unless the answer carries Retry-After", witness: []uint64{1, 2}},
		{name: "423, told when", history: get().Attempt(0, ms, 423).RetryAfter("1").Attempt(s, ms, 200), want: assert.Pass, detail: kept},
		{name: "a copy that was under way already", history: get().Attempt(0, s, 425).Attempt(10*ms, s, 425), want: assert.Pass, detail: kept},
		{name: "cut off, which is a failure of the network", history: get().Attempt(0, ms, 421).With(func(e *journal.Entry) { e.Cut = true }).Attempt(s, ms, 200),
			want: assert.NotExercised, detail: "no call was answered 408, 409, 421, 423 or 425"},
		{name: "400", history: get().Retries(0, 400, s), want: assert.NotExercised, detail: "no call was answered 408, 409, 421, 423 or 425"},
		{name: "may go on", history: get().Attempt(0, ms, 409), run: &assert.Run{Until: s},
			want: assert.Inconclusive, detail: "nothing followed such an answer that should not, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}

// RFC 8470: what was refused as early data is sent again without it.
func TestTooEarlyIsNotRepeatedInEarlyData(t *testing.T) {
	early := journal.Sent{EarlyData: true}
	for name, c := range map[string]struct {
		history *history.Builder
		want    assert.Verdict
	}{
		"repeated after the handshake": {history.New().Sent(early).Attempt(0, ms, 425).Sent(journal.Sent{}).Attempt(5*ms, ms, 200), assert.Pass},
		"repeated in early data":       {history.New().Sent(early).Attempt(0, ms, 425).Attempt(5*ms, ms, 425), assert.Fail},
		"a retry of something else":    {history.New().Sent(early).Attempt(0, ms, 503).Attempt(s, ms, 200), assert.NotExercised},
	} {
		calls := assert.Calls(c.history.Entries(), assert.Key{OneCall: true, Run: &assert.Run{Ended: true}})
		if r := (assert.Special4xx{}).Check(calls); r.Verdict != c.want {
			t.Errorf("%s: %v: %s", name, r.Verdict, r.Detail)
		}
	}
}
