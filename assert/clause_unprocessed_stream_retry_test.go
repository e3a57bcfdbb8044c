package assert_test

import (
	"testing"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

func TestUnprocessedStreamRetry(t *testing.T) {
	by := func(kind string) func(*journal.Entry) {
		return func(e *journal.Entry) { e.Proto, e.Rule, e.Fault, e.Unprocessed = "HTTP/2.0", "r", kind, true }
	}
	refused, away := by("refused-stream"), by("goaway")
	h := func() *history.Builder { return history.New().Request("POST", "/").Key("k") }
	check(t, assert.UnprocessedStreamRetry{}, []row{
		{name: "sent again at once", history: h().Conn(1).Cut(0, ms).With(refused).Attempt(2*ms, ms, 200),
			want: assert.Pass, detail: "what was not processed was sent again, in bounds (1 call)"},
		{name: "a write without a key", history: history.New().Request("POST", "/").Conn(1).Cut(0, ms).With(refused).Attempt(2*ms, ms, 200),
			want: assert.Pass, detail: "what was not processed was sent again, in bounds (1 call)"},
		{name: "on a used connection, where the transport sends again",
			history: h().Conn(1).Attempt(0, ms, 200).Key("k2").Cut(s, ms).With(away).Conn(2).Attempt(s+2*ms, ms, 200),
			want:    assert.Pass, detail: "what was not processed was sent again, in bounds (1 call)"},
		{name: "at once, then with waits", history: h().Conn(1).Cut(0, ms).With(refused).Cut(2*ms, ms).With(refused).Cut(s, ms).With(refused).Cut(s+2*ms, ms).With(refused).Attempt(5*s, ms, 200),
			want: assert.Pass, detail: "what was not processed was sent again, in bounds (1 call)"},
		{name: "gave up", history: h().Cut(0, ms).With(refused),
			want: assert.Fail, detail: "the request was never sent again, although the server said that it did nothing with it: REFUSED_STREAM", witness: []uint64{1}},
		{name: "gave up after GOAWAY", history: h().Cut(0, ms).With(away),
			want: assert.Fail, detail: "the request was never sent again, although the server said that it did nothing with it: GOAWAY", witness: []uint64{1}},
		{name: "loops", history: h().Conn(1).Cut(0, ms).With(refused).Cut(2*ms, ms).With(refused).Cut(4*ms, ms).With(refused).Cut(6*ms, ms).With(refused).Attempt(s, ms, 200),
			want: assert.Fail, detail: "3 repeats in a row came within 50 ms each, after REFUSED_STREAM; the contract allows 1", witness: []uint64{1, 2, 3}},
		{name: "loops over new connections", history: h().Cut(0, ms).With(away).Cut(2*ms, ms).With(away).Attempt(4*ms, ms, 200),
			want: assert.Fail, detail: "2 repeats in a row came within 50 ms each, after GOAWAY; the contract allows 1", witness: []uint64{1, 2, 3}},
		{name: "goes on over a connection that goes away", history: h().Conn(1).Cut(0, ms).With(away).Cut(s, ms).With(away).Conn(2).Attempt(3*s, ms, 200),
			want: assert.Fail, detail: "the request was sent again over the connection that said GOAWAY, where nothing is processed any more", witness: []uint64{1, 2}},
		{name: "the client left", history: h().Cut(0, ms).With(refused).With(func(e *journal.Entry) { e.Gone = ms }),
			want: assert.NotExercised, detail: "HTTP/2 refused no request: no REFUSED_STREAM, no GOAWAY"},
		{name: "a reset is no refusal", history: h().Cut(0, ms).Attempt(s, ms, 200),
			want: assert.NotExercised, detail: "HTTP/2 refused no request: no REFUSED_STREAM, no GOAWAY"},
		{name: "watched too briefly", history: h().Cut(0, ms).With(refused), run: &assert.Run{Until: s},
			want: assert.Inconclusive, detail: "no second send came, but the watch ended before 5 s of silence had passed, so another attempt may have followed (1 call)"},
	})
}
