package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestNoRetryPermanent5xx(t *testing.T) {
	check(t, assert.NoRetryPermanent5xx{}, []row{
		{name: "gives up", history: history.New().Attempt(0, ms, 501),
			want: assert.Pass, detail: "no attempt followed a 5xx that forbids one (1 call)"},
		{name: "takes every 5xx for an outage", history: history.New().Retries(0, 501, s, 2*s),
			want: assert.Fail, detail: "attempt 2 came 1 s after a 501; the contract says never; 1 more followed", witness: []uint64{1, 2}},
		{name: "full disk", history: history.New().Request("PUT", "/file").Retries(0, 507, 120*ms),
			want: assert.Fail, detail: "attempt 2 came 120 ms after a 507; the contract says never", witness: []uint64{1, 2}},
		{name: "first an outage, then final", history: history.New().Attempt(0, ms, 503).Attempt(s, ms, 505),
			want: assert.Pass, detail: "no attempt followed a 5xx that forbids one (1 call)"},
		{name: "509 with a time", history: history.New().Attempt(0, ms, 509).RetryAfter("1").Attempt(s+ms, ms, 200),
			want: assert.NotExercised, detail: "no call was answered with a 5xx after which the contract forbids another attempt"},
		{name: "503 is no such answer", history: history.New().Retries(0, 503, s),
			want: assert.NotExercised, detail: "no call was answered with a 5xx after which the contract forbids another attempt"},
		{name: "400 is another clause's", history: history.New().Retries(0, 400, s),
			want: assert.NotExercised, detail: "no call was answered with a 5xx after which the contract forbids another attempt"},
		{name: "watched too briefly", history: history.New().Attempt(0, ms, 526), run: &assert.Run{Until: s},
			want: assert.Inconclusive, detail: "no attempt followed a 5xx that forbids one, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}
