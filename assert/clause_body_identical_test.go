package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestBodyIdentical(t *testing.T) {
	put := func(body string) *history.Builder { return history.New().Request("PUT", "/file").Body(body) }
	half := func(e *journal.Entry) { e.BodyWhole, e.BodyLen, e.BodySum, e.Fault = false, 2, 99, "reset" }
	check(t, assert.BodyIdentical{}, []row{
		{name: "rewinds", history: put("test body").Retries(0, 503, s, 2*s),
			want: assert.Pass, detail: "every retry carried the body of the first attempt (1 call)"},
		{name: "sends nothing the second time", history: put("test body").Attempt(0, ms, 503).Body("").Attempt(s, ms, 200),
			want: assert.Fail, detail: "attempt 2 carried 0 bytes where attempt 1 carried 9; the contract says the same body every time", witness: []uint64{1, 2}},
		{name: "promises a body and sends none", history: put("test body").Attempt(0, ms, 503).Body("").Left(s, 20*ms).
			With(func(e *journal.Entry) { e.BodyWhole = false }), want: assert.Fail, detail: "attempt 2 carried 0 bytes where attempt 1 carried 9; the contract says the same body every time", witness: []uint64{1, 2}},
		{name: "a new timestamp in the body", history: put(`{"t":1}`).Attempt(0, ms, 503).Body(`{"t":2}`).Attempt(s, ms, 200),
			want: assert.Fail, detail: "attempt 2 carried another body than attempt 1 (both 7 bytes); the contract says the same body every time", witness: []uint64{1, 2}},
		{name: "sends the rest of a stream", history: clients(3, func(i int, h *history.Builder) {
			h.Request("PUT", "/file").Body("0123456789").Attempt(0, ms, 503).Body("0123456789"[3*i:]).Attempt(s, ms, 200)
		}), want: assert.Fail, detail: "attempt 2 carried 4 bytes where attempt 1 carried 10; the contract says the same body every time (c2; 2 of 3 calls)", witness: []uint64{3, 6}},
		{name: "the fault cut the first upload", history: put("test body").Cut(0, ms).With(half).Attempt(s, ms, 503).Attempt(3*s, ms, 200),
			want: assert.Pass, detail: "every retry carried the body of the first attempt (1 call)"},
		{name: "the fault cut the second upload", history: put("test body").Attempt(0, ms, 503).Cut(s, ms).With(half).Attempt(3*s, ms, 200),
			want: assert.Pass, detail: "every retry carried the body of the first attempt (1 call)"},
		{name: "answered before the second upload was read", history: put("test body").Attempt(0, ms, 503).Attempt(s, ms, 503).
			With(func(e *journal.Entry) { half(e); e.Fault, e.Early = "status", true }).Attempt(3*s, ms, 200),
			want: assert.Pass, detail: "every retry carried the body of the first attempt (1 call)"},
		{name: "a new token, the same body", history: put("x").Auth(1).Attempt(0, ms, 401).Auth(2).Attempt(ms, ms, 200),
			want: assert.Pass, detail: "every retry carried the body of the first attempt (1 call)"},
		{name: "merged after a conflict", history: put("mine").Attempt(0, ms, 409).Body("merged").Attempt(s, ms, 200),
			want: assert.NotExercised, detail: "no request with a body was repeated"},
		{name: "merged, then repeated alike", history: put("mine").Attempt(0, ms, 409).Body("merged").Attempt(s, ms, 503).Attempt(2*s, ms, 200),
			want: assert.Pass, detail: "every retry carried the body of the first attempt (1 call)"},
		{name: "another order after a success", history: put("one").Attempt(0, ms, 200).Body("two").Attempt(s, ms, 200),
			want: assert.NotExercised, detail: "no request with a body was repeated"},
		{name: "no body", history: history.New().Retries(0, 503, s),
			want: assert.NotExercised, detail: "no request with a body was repeated"},
		{name: "not repeated", history: put("x").Attempt(0, ms, 503),
			want: assert.NotExercised, detail: "no request with a body was repeated"},
	})
}
