package assert_test

import (
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

func TestRetryAfterSanity(t *testing.T) {
	const kept = "waits after a senseless Retry-After were the client's own, or the call ended"
	const none = "no failure came with a Retry-After beyond 2m or without a meaning"
	calls := func(n int, value string, wait time.Duration) *history.Builder {
		return clients(n, func(_ int, h *history.Builder) {
			h.Attempt(0, 0, 429).RetryAfter(value).Attempt(wait, 0, 429).RetryAfter(value).Attempt(2*wait, 0, 200)
		})
	}
	day := func() *history.Builder { return history.New().Attempt(0, 0, 503).RetryAfter("86400") }
	check(t, assert.RetryAfterSanity{}, []row{
		{name: "gives up at a day", history: day(), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "waits its own two minutes instead", history: day().Attempt(120*s, ms, 200), want: assert.Pass, detail: kept + " (1 call)"},
		{name: "obeys", history: day().Attempt(86400*s, ms, 200), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 came 24h after a 503 with Retry-After: 86400; the contract says to wait 2m at most, or to give up"},
		{name: "obeys, without a canary", history: day().Attempt(86400*s, ms, 200), run: &assert.Run{Ended: true}, want: assert.Inconclusive,
			detail: "attempt 2 came 24h after a 503 with Retry-After: 86400; the contract says to wait 2m at most, or to give up; but no canary ran, so the machine itself may have been late"},
		{name: "is at it still", history: day(), run: &assert.Run{Until: 140 * s, Working: true, Noise: calm}, want: assert.Fail, witness: []uint64{1},
			detail: "a was still waiting 2m20s after a 503 with Retry-After: 86400; the contract says to wait 2m at most, or to give up"},
		{name: "may be at it still", history: day(), run: &assert.Run{Until: 140 * s, Noise: calm}, want: assert.Inconclusive,
			detail: "the watch ended before it was clear that the client had given up (1 call)"},
		{name: "is at it, watched for a minute", history: day(), run: &assert.Run{Until: 60 * s, Working: true, Noise: calm}, want: assert.Inconclusive,
			detail: "the watch ended before it was clear that the client had given up (1 call)"},
		{name: "junk, own backoff", history: calls(3, "soon", s), want: assert.Pass, detail: kept + " (3 calls)"},
		{name: "junk as nothing", history: calls(3, "soon", ms), want: assert.Fail, witness: []uint64{1, 4, 4, 7, 2, 5},
			detail: "after Retry-After: soon the next attempt came 1 ms later (median of 6 waits); the contract wants a wait, and even waits drawn between 0 and 50 ms are that short less than once in 10,000 runs"},
		{name: "junk as nothing, once", history: history.New().Attempt(0, 0, 429).RetryAfter("-5").Attempt(ms, 0, 200), want: assert.Inconclusive,
			detail: "after Retry-After: -5 the next attempt came 1 ms later (median of 1 wait), which jitter can do by chance; more calls would tell"},
		{name: "a timer that overflows", history: calls(3, "2147484", ms), want: assert.Fail, witness: []uint64{1, 4, 4, 7, 2, 5},
			detail: "after Retry-After: 2147484 the next attempt came 1 ms later (median of 6 waits); the contract wants a wait, and even waits drawn between 0 and 50 ms are that short less than once in 10,000 runs"},
		{name: "one value of two as nothing", history: calls(3, "soon", s).Client("d").Attempt(0, 0, 429).RetryAfter("-5").Attempt(0, 0, 429).RetryAfter("-5").Attempt(0, 0, 200),
			want: assert.Fail, witness: []uint64{4, 5, 5, 6},
			detail: "after Retry-After: -5 the next attempt came 0 ms later (median of 2 waits); the contract wants a wait, and even waits drawn between 0 and 50 ms are that short less than once in 10,000 runs"},
		{name: "below the agreed backoff", clause: assert.RetryAfterSanity{Min: s}, history: calls(1, "1.5", 500*ms), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 came 500 ms after a 429 with Retry-After: 1.5; the contract says not before 1 s"},
		{name: "junk for 25 days, as ky did", history: calls(1, "soon", 2147483*s), want: assert.Fail, witness: []uint64{1, 2},
			detail: "attempt 2 came 596h31m23s after a 429 with Retry-After: soon; the contract says to wait 2m at most, or to give up"},
		{name: "zero is no junk", history: calls(3, "0", 0), want: assert.NotExercised, detail: none},
		{name: "spaces are none", history: calls(1, "  3 ", 3*s), want: assert.NotExercised, detail: none},
		{name: "a date in the past is none", history: calls(3, epoch.Add(-s).Format(imf), 0), run: &assert.Run{Began: epoch, Ended: true}, want: assert.NotExercised, detail: none},
		{name: "a date, without a clock to read it by", history: calls(3, epoch.Format(imf), 0), want: assert.NotExercised, detail: none},
	})
}

// The whole call's time bounds what may be waited: who waits longer has none left to try again.
func TestContractsBoundAbsurdWaits(t *testing.T) {
	kind, err := assert.Kinds.Get("retry-after-sanity")
	if err != nil {
		t.Fatal(err)
	}
	for contract, want := range map[string]time.Duration{
		"{}": 30 * s, "attempts: {within: 10m}": 120 * s, "retry-after: {max: 10s}": 10 * s,
	} {
		if got := kind.New(load(t, contract)).(*assert.RetryAfterSanity).Max; got != want {
			t.Errorf("%s: %v, want %v", contract, got, want)
		}
	}
}

// What a client does that is asked to wait longer than agreed is a matter of the contract.
func TestLongerThanAgreed(t *testing.T) {
	h := history.New
	day := func() *history.Builder { return h().Attempt(0, 0, 429).RetryAfter("86400") }
	const giveUp, wait, either = "retry-after: {max: 10s, longer: give-up}", "retry-after: {max: 10s, longer: wait-max}", "retry-after: {max: 10s, longer: either}"
	for _, c := range []struct {
		name, contract string
		history        *history.Builder
		breaks         bool
	}{
		{"gives up, as agreed", giveUp, day(), false},
		{"waits the maximum, where it was to give up", giveUp, day().Attempt(10*s, ms, 200), true},
		{"waits less, where it was to give up", giveUp, day().Attempt(s, ms, 200), true},
		{"gives up after waits that it keeps", giveUp, h().Attempt(0, 0, 429).RetryAfter("10").Attempt(10*s, 0, 429).RetryAfter("11"), false},
		{"is told a date too far away", giveUp, h().Attempt(0, 0, 503).RetryAfter(epoch.Add(time.Hour).Format(imf)).Attempt(10*s, ms, 200), true},
		{"backs off from an answer whose header does not bind it", giveUp, h().Attempt(0, 0, 500).RetryAfter("86400").Attempt(s, ms, 200), false},
		{"junk asks for nothing", giveUp, h().Attempt(0, 0, 429).RetryAfter("soon").Attempt(s, ms, 200), false},
		{"waits the maximum, as agreed", wait, day().Attempt(10*s, ms, 200), false},
		{"gives up, where it was to wait", wait, day(), true},
		{"gives up with its last attempt", wait + "\nattempts: {max: 1}", day(), false},
		{"gives up where no time is left", wait + "\nattempts: {within: 12s}", day(), false},
		{"gives up on a write that may have been done", "retry-after: {max: 10s, longer: wait-max}\nresponses: {500: {retry: backoff, retry-after: honour}}",
			h().Request("POST", "/orders").Attempt(0, 0, 500).RetryAfter("86400"), false},
		{"gives up, and either will do", either, day(), false},
		{"waits, and either will do", either, day().Attempt(10*s, ms, 200), false},
	} {
		key := assert.Key{OneCall: true, Run: &assert.Run{Began: epoch, Ended: true, Noise: calm}}
		r := assert.Judge(load(t, c.contract), []string{"retry-after-sanity"}, assert.Calls(c.history.Entries(), key))[0]
		if (r.Verdict == assert.Fail) != c.breaks {
			t.Errorf("%s: %v: %s", c.name, r.Verdict, r.Detail)
		}
	}
}

// Someone who asks again after an hour, because the first time it was to wait for so long, makes another call.
func TestAskingAgainAfterALongRetryAfterIsAnotherCall(t *testing.T) {
	again := history.New().Attempt(0, ms, 503).RetryAfter("3600").Attempt(3700*s, ms, 200)
	for rule, want := range map[bool]assert.Verdict{true: assert.Fail, false: assert.Pass} {
		calls := assert.Calls(again.Entries(), assert.Key{OneCall: rule, Run: &assert.Run{Began: epoch, Ended: true, Noise: calm}})
		if r := (assert.RetryAfterSanity{}).Check(calls); r.Verdict != want {
			t.Errorf("known to be one call: %v: %v: %s", rule, r.Verdict, r.Detail)
		}
	}
}
