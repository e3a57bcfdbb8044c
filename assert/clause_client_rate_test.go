package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestClientRate(t *testing.T) {
	tenAMinute := assert.ClientRate{Limits: assert.Rates{{N: 10, Per: time.Minute}}}
	fourIn10s := assert.ClientRate{Limits: assert.Rates{{N: 4, Per: 10 * s}}}
	check(t, assert.ClientRate{}, []row{
		{name: "a few retries", history: history.New().Retries(0, 503, s, 2*s, 4*s),
			want: assert.Pass, detail: "at most 20 % of the agreed rate"},
		{name: "40 a second", history: history.New().Client("script").Request("POST", "/jobs").Retries(0, 503, repeat(79, 24*ms)...),
			want: assert.Fail, detail: "script sent 80 requests to POST /jobs within 10 s; the contract allows 20", witness: []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}},
		{name: "exactly as agreed", clause: tenAMinute, history: history.New().Retries(0, 200, repeat(40, 6*s-ms)...),
			want: assert.Pass, detail: "at most 100 % of the agreed rate"},
		{name: "exactly as agreed, a few milliseconds off", clause: tenAMinute, history: history.New().Retries(0, 200, repeat(40, 5998*ms)...),
			want: assert.Pass, detail: "at most 100 % of the agreed rate"},
		{name: "one more than agreed", clause: fourIn10s, history: history.New().Retries(0, 400, repeat(4, 2400*ms)...),
			want: assert.Fail, detail: "a sent 5 requests to GET / within 10 s; the contract allows 4", witness: []uint64{1, 2, 3, 4, 5}},
		{name: "whatever the answer", clause: fourIn10s, history: history.New().Retries(0, 200, repeat(19, 100*ms)...),
			want: assert.Fail, detail: "a sent 20 requests to GET / within 10 s; the contract allows 4", witness: []uint64{1, 2, 3, 4, 5}},
		{name: "two clients, each within its limit", clause: fourIn10s, history: clients(2, func(_ int, h *history.Builder) { h.Retries(0, 400, repeat(3, s)...) }),
			want: assert.Pass, detail: "at most 100 % of the agreed rate"},
		{name: "two endpoints, each within its limit", clause: fourIn10s,
			history: history.New().Retries(0, 400, repeat(3, s)...).Request("GET", "/b").Retries(0, 400, repeat(3, s)...),
			want:    assert.Pass, detail: "at most 100 % of the agreed rate"},
		{name: "several clients over it", clause: fourIn10s, history: clients(3, func(i int, h *history.Builder) { h.Retries(0, 400, repeat(4+i, s)...) }),
			want: assert.Fail, detail: "c2 sent 7 requests to GET / within 10 s; the contract allows 4 (2 clients or endpoints more broke it)", witness: []uint64{3, 6, 9, 12, 15}},
		{name: "the watch was shorter than the limit's minute", history: history.New().Retries(0, 503, s), run: &assert.Run{Until: 20 * s},
			want: assert.Inconclusive, detail: "watched for 20 s only, too short for a limit on 1m"},
		{name: "nothing came", history: history.New(),
			want: assert.NotExercised, detail: "no request arrived"},
	})
}
