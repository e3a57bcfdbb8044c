package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestIdempotencyKeyStable(t *testing.T) {
	required := assert.IdempotencyKeyStable{Required: true, SafeRoutes: []string{"/search"}}
	check(t, assert.IdempotencyKeyStable{}, []row{
		{name: "one key", history: post().Key("k1").Retries(0, 503, s, 2*s),
			want: assert.Pass, detail: "every retry carried the key of its first attempt (1 call)"},
		{name: "a key for each attempt", history: post().Key("k1").Cut(0, ms).Key("k2").Attempt(s, ms, 201),
			want: assert.Fail, detail: "attempts 1 and 2 carried different idempotency keys, so that the server takes them for two calls", witness: []uint64{1, 2}},
		{name: "a key from the second attempt on", history: post().Attempt(0, ms, 503).Key("k1").Attempt(s, ms, 201),
			want: assert.Fail, detail: "attempt 2 carried an idempotency key and attempt 1 none; the key has to be there from the first attempt on", witness: []uint64{1, 2}},
		{name: "the key is lost", history: post().Key("k1").Attempt(0, ms, 503).Key("").Attempt(s, ms, 201),
			want: assert.Fail, detail: "attempt 2 carried no idempotency key although attempt 1 did", witness: []uint64{1, 2}},
		{name: "no key at all", history: post().Retries(0, 503, s),
			want: assert.NotExercised, detail: "no request with an idempotency key was repeated"},
		{name: "no key at all, where the contract wants one", clause: required, history: post().Retries(0, 503, s),
			want: assert.Fail, detail: "attempt 2 repeated POST /orders after a 503 without an idempotency key; the contract wants one on every write", witness: []uint64{1, 2}},
		{name: "a search needs none", clause: required, history: history.New().Request("POST", "/search").Retries(0, 503, s),
			want: assert.NotExercised, detail: "no request with an idempotency key was repeated"},
		{name: "a GET needs none", clause: required, history: history.New().Retries(0, 503, s),
			want: assert.NotExercised, detail: "no request with an idempotency key was repeated"},
		{name: "a new order after the first was done", history: post().Key("k1").Attempt(0, ms, 201).Key("k2").Attempt(s, ms, 201),
			want: assert.NotExercised, detail: "no request with an idempotency key was repeated"},
		{name: "a corrected order after a refusal", history: post().Key("k1").Attempt(0, ms, 422).Key("k2").Body("one tricycle").Attempt(s, ms, 201),
			want: assert.NotExercised, detail: "no request with an idempotency key was repeated"},
		{name: "one key for two orders", history: post().Key("k1").Attempt(0, ms, 201).Body("one tricycle").Attempt(s, ms, 201),
			want: assert.Fail, detail: "a sent two different bodies to POST /orders under one idempotency key; the second is taken for a repeat of the first", witness: []uint64{1, 2}},
		{name: "the corrected order keeps the key of the refused one", history: post().Key("k1").Attempt(0, ms, 422).Body("one tricycle").Attempt(s, ms, 201),
			want: assert.NotExercised, detail: "no request with an idempotency key was repeated"},
	})
}
