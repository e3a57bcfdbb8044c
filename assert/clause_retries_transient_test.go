package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestRetriesTransient(t *testing.T) {
	final502 := assert.StrictResponses().Clone()
	final502.Set(502, 502, assert.Response{Retry: assert.Never})
	each := []int{429, 502, 503, 504, 0}
	check(t, assert.RetriesTransient{}, []row{
		{name: "retries and recovers", history: history.New().Attempt(0, ms, 503).Attempt(s, ms, 200),
			want: assert.Pass, detail: "passing failures were tried again: 503; 1 call succeeded in the end (1 call)"},
		{name: "retries in vain", history: history.New().Retries(0, 503, s, 2*s),
			want: assert.Pass, detail: "passing failures were tried again: 503; the failures lasted (1 call)"},
		{name: "never retries", history: clients(10, func(i int, h *history.Builder) {
			if status := each[i%5]; status != 0 {
				h.Attempt(0, ms, status)
			} else {
				h.Cut(0, ms)
			}
		}), want: assert.Fail, detail: "after a 429 no second attempt came; of 429, 502, 503, 504 and reset it retried none (c0; 10 of 10 calls)", witness: []uint64{1}},
		{name: "knows 503 only", history: clients(4, func(i int, h *history.Builder) {
			if h.Attempt(0, ms, each[i]); each[i] == 503 {
				h.Attempt(s, ms, 200)
			}
		}), want: assert.Fail, detail: "after a 429 no second attempt came; of 429, 502, 503 and 504 it retried 503 (c0; 3 of 4 calls)", witness: []uint64{1}},
		{name: "one call in ten, where nine do", history: clients(10, func(i int, h *history.Builder) {
			if h.Attempt(0, ms, 503); i > 0 {
				h.Attempt(s, ms, 200)
			}
		}), want: assert.Fail, detail: "after a 503 no second attempt came; of 503 it retried 503 (c0; 1 of 10 calls)", witness: []uint64{1}},
		{name: "nine in ten are enough", clause: assert.RetriesTransient{Share: 0.9}, history: clients(10, func(i int, h *history.Builder) {
			if h.Attempt(0, ms, 503); i > 0 {
				h.Attempt(s, ms, 200)
			}
		}), want: assert.Pass, detail: "passing failures were tried again: 503; 9 calls succeeded in the end (9 calls)"},

		{name: "a POST without a key", history: history.New().Request("POST", "/orders").Attempt(0, ms, 503),
			want: assert.NotExercised, detail: "no first attempt of a request that is safe to repeat met 429, 502, 503, 504 and reset"},
		{name: "a POST that was refused", history: history.New().Request("POST", "/orders").Attempt(0, ms, 429),
			want: assert.Fail, detail: "after a 429 no second attempt came; of 429 it retried none", witness: []uint64{1}},
		{name: "a POST with a key", history: history.New().Request("POST", "/orders").Key("k").Attempt(0, ms, 503),
			want: assert.Fail, detail: "after a 503 no second attempt came; of 503 it retried none", witness: []uint64{1}},
		{name: "a safe route", clause: assert.RetriesTransient{SafeRoutes: []string{"POST /search*"}},
			history: history.New().Request("POST", "/search/all").Attempt(0, ms, 504),
			want:    assert.Fail, detail: "after a 504 no second attempt came; of 504 it retried none", witness: []uint64{1}},
		{name: "asked to wait too long", history: history.New().Attempt(0, ms, 429).RetryAfter("61"),
			want: assert.NotExercised, detail: "no first attempt of a request that is safe to repeat met 429, 502, 503, 504 and reset"},
		{name: "asked to wait a moment", history: history.New().Attempt(0, ms, 429).RetryAfter("1"),
			want: assert.Fail, detail: "after a 429 with Retry-After: 1 no second attempt came; of 429 it retried none", witness: []uint64{1}},
		{name: "a contract without retries of 502", clause: assert.RetriesTransient{Table: final502}, history: history.New().Attempt(0, ms, 502),
			want: assert.NotExercised, detail: "no first attempt of a request that is safe to repeat met 429, 502, 503, 504 and reset"},
		{name: "408 where it is wanted", clause: assert.RetriesTransient{Statuses: []int{408}}, history: history.New().Attempt(0, ms, 408),
			want: assert.Fail, detail: "after a 408 no second attempt came; of 408 it retried none", witness: []uint64{1}},
		{name: "gives up by itself", history: history.New().Left(0, 5*s),
			want: assert.NotExercised, detail: "no first attempt of a request that is safe to repeat met 429, 502, 503, 504 and reset"},
		{name: "400 is final", history: history.New().Attempt(0, ms, 400),
			want: assert.NotExercised, detail: "no first attempt of a request that is safe to repeat met 429, 502, 503, 504 and reset"},
		{name: "an answer cut off", history: history.New().Attempt(0, ms, 503).With(func(e *journal.Entry) { e.Cut = true }),
			want: assert.NotExercised, detail: "no first attempt of a request that is safe to repeat met 429, 502, 503, 504 and reset"},
		{name: "may still retry", history: history.New().Attempt(0, ms, 503), run: &assert.Run{Until: s},
			want: assert.Inconclusive, detail: "no second attempt came, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}
