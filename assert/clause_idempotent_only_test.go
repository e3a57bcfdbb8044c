package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestIdempotentOnly(t *testing.T) {
	check(t, assert.IdempotentOnly{}, []row{
		{name: "gives up after a reset", history: post().Cut(0, ms),
			want: assert.Pass, detail: "no write that may have been carried out was sent again without a key (1 call)"},
		{name: "sends the order again after a reset", history: post().Cut(0, ms).Attempt(121*ms, ms, 201),
			want: assert.Fail, detail: "POST /orders, which carries no idempotency key, was sent again 120 ms after a connection that broke without an answer; attempt 1 may have been carried out, and then it is done twice", witness: []uint64{1, 2}},
		{name: "after its own timeout", history: post().Left(0, 600*ms).Attempt(800*ms, ms, 201),
			want: assert.Fail, detail: "POST /orders, which carries no idempotency key, was sent again 200 ms after the client had given up on the one before; attempt 1 may have been carried out, and then it is done twice", witness: []uint64{1, 2}},
		{name: "after a 502 and a 504", history: post().Attempt(0, ms, 502).Attempt(s, ms, 504).Attempt(3*s, ms, 201),
			want: assert.Fail, detail: "POST /orders, which carries no idempotency key, was sent again 999 ms after a 502; attempt 1 may have been carried out, and then it is done twice; 2 such repeats in this call", witness: []uint64{1, 2}},
		{name: "after a timeout, without closing the first", history: post().Attempt(0, s, 201).Attempt(600*ms, ms, 201),
			want: assert.Fail, detail: "POST /orders, which carries no idempotency key, was sent again while attempt 1 was still going on; attempt 1 may have been carried out, and then it is done twice", witness: []uint64{1, 2}},
		{name: "after an answer cut off", history: post().Attempt(0, ms, 201).With(func(e *journal.Entry) { e.Cut = true }).Attempt(s, ms, 201),
			want: assert.Fail, detail: "POST /orders, which carries no idempotency key, was sent again 999 ms after a 201 that was cut off; attempt 1 may have been carried out, and then it is done twice", witness: []uint64{1, 2}},
		{name: "with a key", history: post().Key("k1").Cut(0, ms).Attempt(s, ms, 201),
			want: assert.Pass, detail: "no write that may have been carried out was sent again without a key (1 call)"},
		{name: "with a precondition", history: post().Cut(0, ms).With(func(e *journal.Entry) { e.Precondition = true }).Attempt(s, ms, 201),
			want: assert.Pass, detail: "no write that may have been carried out was sent again without a key (1 call)"},
		{name: "where the contract calls it safe", clause: assert.IdempotentOnly{SafeRoutes: []string{"POST /orders"}}, history: post().Cut(0, ms).Attempt(s, ms, 201),
			want: assert.Pass, detail: "no write that may have been carried out was sent again without a key (1 call)"},
		{name: "the key comes too late", history: post().Cut(0, ms).Key("k1").Attempt(s, ms, 201),
			want: assert.Fail, detail: "POST /orders, which carries no idempotency key, was sent again 999 ms after a connection that broke without an answer; attempt 1 may have been carried out, and then it is done twice", witness: []uint64{1, 2}},
		{name: "the transport resends it", history: post().Conn(1).Attempt(0, ms, 500).Cut(s, 0).Conn(2).Attempt(s+ms, ms, 500),
			want: assert.Fail, detail: "POST /orders, which carries no idempotency key, was sent again 1 s after a 500; attempt 1 may have been carried out, and then it is done twice", witness: []uint64{1, 3}},
		{name: "the transport resends it once", history: post().Conn(1).Attempt(0, ms, 429).Cut(s, 0).Conn(2).Attempt(s+ms, ms, 500),
			want: assert.Pass, detail: "no write that may have been carried out was sent again without a key; the transport itself resent 1 write on another connection, which is not charged, but may have been carried out twice (1 call)"},
		{name: "the transport resends it, and all is well", history: post().Conn(1).Attempt(0, ms, 429).Cut(s, 0).Conn(2).Attempt(s+ms, ms, 201),
			want: assert.NotExercised, detail: "no write (POST, PATCH) met a failure behind which it may have been carried out; the transport itself resent 1 write on another connection, which is not charged, but may have been carried out twice"},
		{name: "the transport resends it under a key", history: post().Key("k1").Conn(1).Attempt(0, ms, 429).Cut(s, 0).Conn(2).Attempt(s+ms, ms, 201),
			want: assert.NotExercised, detail: "no write (POST, PATCH) met a failure behind which it may have been carried out"},

		{name: "429 refused it", history: post().Retries(0, 429, s),
			want: assert.NotExercised, detail: "no write (POST, PATCH) met a failure behind which it may have been carried out"},
		{name: "503 that names a time refused it", history: post().Attempt(0, ms, 503).RetryAfter("1").Attempt(s+ms, ms, 201),
			want: assert.NotExercised, detail: "no write (POST, PATCH) met a failure behind which it may have been carried out"},
		{name: "503 without one did not", history: post().Attempt(0, ms, 503).Attempt(s, ms, 201),
			want: assert.Fail, detail: "POST /orders, which carries no idempotency key, was sent again 999 ms after a 503; attempt 1 may have been carried out, and then it is done twice", witness: []uint64{1, 2}},
		{name: "a GET may", history: history.New().Cut(0, ms).Attempt(s, ms, 200),
			want: assert.NotExercised, detail: "no write (POST, PATCH) met a failure behind which it may have been carried out"},
		{name: "a PUT may", history: history.New().Request("PUT", "/orders/7").Cut(0, ms).Attempt(s, ms, 200),
			want: assert.NotExercised, detail: "no write (POST, PATCH) met a failure behind which it may have been carried out"},
		{name: "a PATCH may not", history: history.New().Request("PATCH", "/orders/7").Retries(0, 500, s),
			want: assert.Fail, detail: "PATCH /orders/7, which carries no idempotency key, was sent again 1 s after a 500; attempt 1 may have been carried out, and then it is done twice", witness: []uint64{1, 2}},
		{name: "it may still come", history: post().Cut(0, ms), run: &assert.Run{Until: s},
			want: assert.Inconclusive, detail: "no write that may have been carried out was sent again without a key, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}
