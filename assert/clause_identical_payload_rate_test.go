package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestIdenticalPayloadRate(t *testing.T) {
	post := func() *history.Builder {
		return history.New().Client("phone").Request("POST", "/driver/status").Body(`{"x":`)
	}
	check(t, assert.IdenticalPayloadRate{}, []row{
		{name: "three retries", history: post().Retries(0, 503, s, 2*s, 4*s),
			want: assert.Pass, detail: "at most 100 % of the agreed rate"},
		{name: "loops on 400", history: post().Retries(0, 400, repeat(300, 100*ms)...),
			want: assert.Fail, detail: "phone sent the same POST /driver/status 300 times more within 1m after it had failed; the contract allows 3", witness: []uint64{1, 2, 3, 4, 5}},
		{name: "one more than agreed", history: post().Retries(0, 503, s, 2*s, 4*s, 8*s),
			want: assert.Fail, detail: "phone sent the same POST /driver/status 4 times more within 1m after it had failed; the contract allows 3", witness: []uint64{1, 2, 3, 4, 5}},
		{name: "one a minute later", history: post().Retries(0, 503, s, 2*s, 4*s, 60*s),
			want: assert.Pass, detail: "at most 100 % of the agreed rate"},
		{name: "in a queue that goes round the cap", history: post().Retries(0, 400).Call("2").Retries(s, 400).Call("3").Retries(2*s, 400).
			Call("4").Retries(3*s, 400).Call("5").Retries(4*s, 400), want: assert.Fail, detail: "phone sent the same POST /driver/status 4 times more within 1m after it had failed; the contract allows 3", witness: []uint64{1, 2, 3, 4, 5}},
		{name: "repeats what succeeded", history: history.New().Retries(0, 200, repeat(100, s)...),
			want: assert.NotExercised, detail: "no request failed"},
		{name: "polls on after a failure", history: history.New().Retries(0, 200, s, s).Attempt(10*s, ms, 503).Retries(11*s, 200, repeat(50, s)...),
			want: assert.Pass, detail: "at most 0 % of the agreed rate"},
		{name: "comes back as told", history: clients(1, func(_ int, h *history.Builder) {
			for i := range 8 {
				h.Attempt(ns(i)*(2*s+ms), ms, 429).RetryAfter("2")
			}
		}), want: assert.Pass, detail: "at most 0 % of the agreed rate"},
		{name: "different payloads", history: clients(1, func(_ int, h *history.Builder) {
			for i := range 8 {
				h.Body(string(rune('a'+i))).Attempt(ns(i)*s, ms, 400)
			}
		}), want: assert.Pass, detail: "at most 0 % of the agreed rate"},
		{name: "payloads that no one read to their ends", history: clients(1, func(_ int, h *history.Builder) {
			for i := range 8 {
				h.Body("").Attempt(ns(i)*s, ms, 413).With(func(e *journal.Entry) { e.Early, e.BodyWhole = true, false })
			}
		}), want: assert.NotExercised, detail: "no request failed"},
		{name: "calls side by side are no repeats", history: clients(1, func(_ int, h *history.Builder) {
			for i := range 20 {
				h.Attempt(ns(i)*ms, s, 503)
			}
		}), want: assert.Pass, detail: "at most 0 % of the agreed rate"},
		{name: "watched too briefly", history: post().Retries(0, 503, s), run: &assert.Run{Until: 20 * s},
			want: assert.Inconclusive, detail: "watched for 20 s only, too short for a limit on 1m"},
	})
}
