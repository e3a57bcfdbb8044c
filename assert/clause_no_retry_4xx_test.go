package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestNoRetry4xx(t *testing.T) {
	lockable := assert.StrictResponses().Clone()
	lockable.Set(423, 423, assert.Response{Retry: assert.Backoff})
	check(t, assert.NoRetry4xx{}, []row{
		{name: "gives up", history: history.New().Attempt(0, ms, 400),
			want: assert.Pass, detail: "no attempt followed a 4xx that forbids one (1 call)"},
		{name: "sends it once more", history: history.New().Retries(0, 400, 3*ms),
			want: assert.Fail, detail: "attempt 2 came 3 ms after a 400; the contract says never", witness: []uint64{1, 2}},
		{name: "loops", history: history.New().Retries(0, 400, repeat(40, 25*ms)...),
			want: assert.Fail, detail: "attempt 2 came 25 ms after a 400; the contract says never; 39 more followed", witness: []uint64{1, 2}},
		{name: "waits politely, and still sends it again", history: history.New().Retries(0, 404, 10*s, 20*s),
			want: assert.Fail, detail: "attempt 2 came 10 s after a 404; the contract says never; 1 more followed", witness: []uint64{1, 2}},
		{name: "is counted with the others", history: clients(20, func(i int, h *history.Builder) {
			h.Retries(0, 422, repeat(i%4, s)...)
		}), want: assert.Fail, detail: "attempt 2 came 1 s after a 422; the contract says never; 2 more followed (c3; 15 of 20 calls)", witness: []uint64{4, 23}},
		{name: "keeps on after a success", history: history.New().Attempt(0, ms, 200).Retries(s, 400, s),
			want: assert.Fail, detail: "attempt 3 came 1 s after a 400; the contract says never", witness: []uint64{2, 3}},

		{name: "refreshes its token once", history: history.New().Auth(1).Attempt(0, ms, 401).Auth(2).Attempt(9*ms, ms, 200),
			want: assert.Pass, detail: "no attempt followed a 4xx that forbids one (1 call)"},
		{name: "answers a challenge", history: history.New().Auth(0).Attempt(0, ms, 401).Auth(2).Attempt(9*ms, ms, 401),
			want: assert.Pass, detail: "no attempt followed a 4xx that forbids one (1 call)"},
		{name: "401 with the same token", history: history.New().Auth(1).Retries(0, 401, 9*ms),
			want: assert.Fail, detail: "attempt 2 came 9 ms after a 401; the contract says once at most, and only with renewed credentials, but these were the same", witness: []uint64{1, 2}},
		{name: "refreshes again and again", history: history.New().Auth(1).Attempt(0, ms, 401).Auth(2).Attempt(9*ms, ms, 401).Auth(3).Attempt(20*ms, ms, 401),
			want: assert.Fail, detail: "attempt 3 came 10 ms after a 401; the contract says once at most, with renewed credentials, and this was the second time", witness: []uint64{2, 3}},

		{name: "sends something after 413 came before the body was read", history: history.New().Body("").Attempt(0, ms, 413).
			With(func(e *journal.Entry) { e.Early, e.BodyWhole = true, false }).Body("small").Attempt(s, ms, 200),
			want: assert.Pass, detail: "no attempt followed a 4xx that forbids one (1 call)"},
		{name: "413 after the time that it named", history: history.New().Attempt(0, ms, 413).RetryAfter("2").Attempt(3*s, ms, 200),
			want: assert.NotExercised, detail: "no call was answered with a 4xx after which the contract forbids another attempt"},
		{name: "413 without a time", history: history.New().Retries(0, 413, s),
			want: assert.Fail, detail: "attempt 2 came 1 s after a 413; the contract says never, unless the answer carries Retry-After", witness: []uint64{1, 2}},
		{name: "sends less after 413", history: history.New().Body("a large body").Attempt(0, ms, 413).Body("small").Attempt(s, ms, 200),
			want: assert.Pass, detail: "no attempt followed a 4xx that forbids one (1 call)"},
		{name: "merges after 409", history: history.New().Request("PUT", "/doc").Body("mine").Attempt(0, ms, 409).Body("merged").Attempt(s, ms, 200),
			want: assert.Pass, detail: "no attempt followed a 4xx that forbids one (1 call)"},
		{name: "repeats a 409 unchanged", history: history.New().Request("PUT", "/doc").Body("mine").Retries(0, 409, s),
			want: assert.Fail, detail: "attempt 2 came 1 s after a 409; the contract says never, unless the answer carries Retry-After or the request an idempotency key", witness: []uint64{1, 2}},
		{name: "409 on a key in progress", history: history.New().Request("POST", "/orders").Key("k").Retries(0, 409, s),
			want: assert.NotExercised, detail: "no call was answered with a 4xx after which the contract forbids another attempt"},
		{name: "drops its expectation after 417", history: history.New().Request("PUT", "/f").Body("x").Attempt(0, ms, 417).Attempt(2*ms, ms, 200),
			want: assert.Pass, detail: "no attempt followed a 4xx that forbids one (1 call)"},
		{name: "loops on 417", history: history.New().Request("PUT", "/f").Body("x").Retries(0, 417, ms, ms),
			want: assert.Fail, detail: "attempt 3 came 1 ms after a 417; the contract says never", witness: []uint64{2, 3}},

		{name: "429 is no such answer", history: history.New().Retries(0, 429, s),
			want: assert.NotExercised, detail: "no call was answered with a 4xx after which the contract forbids another attempt"},
		{name: "423 where the contract allows it", clause: assert.NoRetry4xx{Table: lockable}, history: history.New().Retries(0, 423, s),
			want: assert.NotExercised, detail: "no call was answered with a 4xx after which the contract forbids another attempt"},
		{name: "423 where it does not", history: history.New().Retries(0, 423, s),
			want: assert.Fail, detail: "attempt 2 came 1 s after a 423; the contract says never, unless the answer carries Retry-After", witness: []uint64{1, 2}},
		{name: "an answer that was cut off says nothing", history: history.New().Attempt(0, ms, 400).With(func(e *journal.Entry) { e.Cut = true }).
			Attempt(s, ms, 200), want: assert.NotExercised, detail: "no call was answered with a 4xx after which the contract forbids another attempt"},

		{name: "watched too briefly", history: history.New().Attempt(0, ms, 400), run: &assert.Run{Until: 2 * s},
			want: assert.Inconclusive, detail: "no attempt followed a 4xx that forbids one, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
		{name: "watched for longer than a contract's longest wait", clause: assert.NoRetry4xx{Quiet: 90 * s},
			history: history.New().Attempt(0, ms, 400), run: &assert.Run{Until: 91 * s},
			want: assert.Pass, detail: "no attempt followed a 4xx that forbids one (1 call)"},
		{name: "not watched for that long", clause: assert.NoRetry4xx{Quiet: 90 * s},
			history: history.New().Attempt(0, ms, 400), run: &assert.Run{Until: 89 * s},
			want: assert.Inconclusive, detail: "no attempt followed a 4xx that forbids one, but the watch ended before 1m30s of silence had passed, so another attempt may have followed (1 call)"},
		{name: "a breach needs no patience", history: history.New().Retries(0, 400, 3*ms), run: &assert.Run{Until: 5 * ms},
			want: assert.Fail, detail: "attempt 2 came 3 ms after a 400; the contract says never", witness: []uint64{1, 2}},
	})
}

// A queue that sends a refused item again at every flush makes no call that lasts: the body shows it (amplitude-swift 126).
func TestNoRetry4xxFindsTheRetryInATimer(t *testing.T) {
	h := history.New().Request("POST", "/events")
	for i := range 5 {
		at := 4 * s * ns(i)
		h.Body("bad").Attempt(at, ms, 400).Body("good"+string(rune('0'+i))).Attempt(at+10*ms, ms, 200)
	}
	calls := assert.Calls(h.Entries(), assert.Key{Run: &assert.Run{Ended: true}})
	if r := (assert.NoRetry4xx{}).Check(calls); r.Verdict != assert.Fail {
		t.Errorf("%s: %s", r.Verdict, r.Detail)
	}
}

// Where nothing is to be sent any more, later calls are breaches too, if the client was given several.
func TestNeverAgain(t *testing.T) {
	c := load(t, "responses: {410: never-again}")
	given := map[string][]time.Duration{"a": {0, s}}
	for name, x := range map[string]struct {
		history *history.Builder
		given   map[string][]time.Duration
		want    assert.Verdict
	}{
		"sent again":            {post().Call("1").Attempt(0, ms, 410).Call("2").Attempt(s, ms, 410), given, assert.Fail},
		"by another method":     {post().Call("1").Attempt(0, ms, 410).Call("2").Request("PUT", "/orders").Attempt(s, ms, 410), given, assert.Fail},
		"to another place":      {post().Call("1").Attempt(0, ms, 410).Call("2").Request("POST", "/b").Attempt(s, ms, 410), given, assert.Pass},
		"was just being sent":   {post().Call("1").Attempt(0, 200*ms, 410).Call("2").Attempt(100*ms, ms, 410).Call("3").Attempt(300*ms, ms, 410), given, assert.Pass},
		"by another client":     {post().Call("1").Attempt(0, ms, 410).Client("b").Call("2").Attempt(s, ms, 410), given, assert.Pass},
		"in a recorded history": {post().Call("1").Attempt(0, ms, 410).Call("2").Attempt(s, ms, 410), nil, assert.Pass},
		"retried":               {post().Call("1").Attempt(0, ms, 410).Attempt(s, ms, 410), nil, assert.Fail},
	} {
		run := &assert.Run{Ended: true, Noise: calm, Given: x.given}
		if r := assert.Judge(c, []string{"no-retry-4xx"}, assert.Calls(x.history.Entries(), assert.Key{Run: run}))[0]; r.Verdict != x.want {
			t.Errorf("%s: %v: %s", name, r.Verdict, r.Detail)
		}
	}
	for _, profile := range []string{"strict", "webhook"} {
		want := map[string]assert.Behaviour{"strict": assert.Never, "webhook": assert.NeverAgain}[profile]
		if got := load(t, "profile: "+profile).Responses.Status(410).Retry; got != want {
			t.Errorf("%s: 410 is %v, want %v", profile, got, want)
		}
	}
}
