package assert_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// waitCases are about the waits that clients choose by themselves.
func waitCases() []publicCase {
	get := history.New
	return []publicCase{
		{source: "nightscout-connect 68: the configured base is not in force", contract: "backoff: {initial: 1500ms, multiplier: 2, max: 9s, jitter: none}",
			bad: get().Retries(0, 503, 256*ms, 512*ms), good: get().Retries(0, 503, 1500*ms, 3*s), breaks: []string{"min-spacing"}},
		{source: "retry4j 36: the first delay is always 0", contract: "attempts: {max: 6}\nbackoff: {initial: 100ms, multiplier: 2, max: 9s, jitter: none}\nlimits: {client-rate: 20/10s}",
			bad: get().Retries(0, 503, 0, 100*ms, 300*ms, 700*ms, 1500*ms), good: get().Retries(0, 503, 100*ms, 200*ms, 400*ms, 800*ms, 1600*ms),
			breaks: []string{"min-spacing"}},
		{source: "onos-lib-go 127: the delay overflows", contract: "attempts: {max: 100, within: 60s}\nbackoff: {initial: 1ms, multiplier: 2, max: 20ms, jitter: none}\nlimits: {client-rate: 1000/1m}",
			bad:  get().Retries(0, 503, append(append([]time.Duration{ms, 2 * ms, 4 * ms, 8 * ms, 16 * ms}, repeat(38, 20*ms)...), repeat(20, ms/2)...)...),
			good: get().Retries(0, 503, append([]time.Duration{ms, 2 * ms, 4 * ms, 8 * ms, 16 * ms}, repeat(58, 20*ms)...)...), breaks: []string{"backoff-growth"}},
		{source: "agenda 1748: jitter after the cap", contract: "attempts: {max: 20, within: 60s}\nbackoff: {initial: 1s, multiplier: 1, max: 1s, jitter: full}",
			bad:  get().Retries(0, 503, 1100*ms, 1400*ms, 1300*ms, 1450*ms, 1200*ms),
			good: get().Retries(0, 503, 900*ms, 300*ms, 700*ms, s, 450*ms), breaks: []string{"delay-cap"}},
		{source: "synapse 6025: jitter falls back to zero", contract: "attempts: {max: 100, within: 60s}\nbackoff: {initial: 20ms, multiplier: 2, max: 320ms, jitter: {proportional: 0.2}}",
			bad:  get().Retries(0, 503, 20*ms, 40*ms, 80*ms, 160*ms, 320*ms, 10*ms, 310*ms, 20*ms),
			good: get().Retries(0, 503, 20*ms, 40*ms, 80*ms, 160*ms, 320*ms, 256*ms, 384*ms, 300*ms), breaks: []string{"backoff-growth"}},
		{source: "htmx-extensions 192: twenty pages double from 0.5 s in step", contract: "attempts: {max: unlimited, within: unlimited}\nbackoff: {initial: 500ms, multiplier: 2, max: 64s, jitter: equal}",
			bad: pages(func(int, time.Duration) float64 { return 1 }), good: pages(equalJitter(1)), breaks: []string{"jitter-present", "herd-index"},
			holds: []string{"backoff-growth", "min-spacing", "delay-cap"}},
		{source: "htmx-extensions 192: and without an end", contract: "attempts: {max: 6, within: unlimited}\nbackoff: {initial: 500ms, multiplier: 2, max: 64s, jitter: equal}",
			bad: pages(equalJitter(2)), good: pages(equalJitter(2), 5), breaks: []string{"retry-cap"}, holds: []string{"jitter-present", "herd-index"}},
		{source: "Ashby: waits of (2^n-1)*10 s at least", contract: webhook("[10s, 30s, 70s, 150s, 310s, 630s, 1270s, 2550s, 5110s]", "none"),
			bad:  deliveries(9200*ms, 30*s, 70*s, 150*s, 310*s, 630*s, 1270*s, 2550*s, 5110*s),
			good: deliveries(10*s, 30*s, 70*s, 150*s, 310*s, 630*s, 1270*s, 2550*s, 5110*s), breaks: []string{"min-spacing"}, holds: []string{"backoff-growth"}},
		{source: "AhaSend: n^4 s, 10 % either way", contract: webhook("[1s, 16s, 81s, 256s, 625s]", "{proportional: 0.1}"),
			bad: deliveries(s, 2*s, 4*s, 8*s, 16*s), good: deliveries(s, 16*s, 81*s, 256*s, 625*s), breaks: []string{"backoff-growth"}},
		{source: "AhaSend: n^4 s, drawn", contract: webhook("[1s, 16s, 81s, 256s, 625s]", "{proportional: 0.1}"), good: deliveries(930*ms, 17*s, 75*s, 280*s, 600*s)},
		{source: "ofelia 826: 36 and 46 ms for 20 and 40", contract: "backoff: {initial: 20ms, multiplier: 2, max: 1s, jitter: none}",
			bad:  get().Retries(0, 503, 26040*time.Microsecond, 26340*time.Microsecond),
			good: get().Retries(0, 503, 36040*time.Microsecond, 46340*time.Microsecond), breaks: []string{"backoff-growth"}},
		{source: "langflow-e2e 1454: 49 ms for 50", contract: "backoff: {initial: 50ms, multiplier: 2, max: 1s, jitter: none}",
			bad: get().Retries(0, 503, 44*ms), good: get().Retries(0, 503, 49*ms), breaks: []string{"min-spacing"}},
	}
}

// webhook is a sender's schedule.
func webhook(waits, jitter string) string {
	return "profile: webhook\nattempts: {max: 10, within: unlimited}\nbackoff: {schedule: " + waits + ", jitter: " + jitter + "}"
}

// deliveries is a webhook that fails, with these waits between.
func deliveries(waits ...time.Duration) *history.Builder {
	return post().Key("msg-1").Retries(0, 503, waits...)
}

// pages is twenty clients whose waits double from 0.5 s to 64 s, times what jitter draws; retries bounds them.
func pages(jitter func(client int, delay time.Duration) float64, retries ...int) *history.Builder {
	n := append(retries, 12)[0]
	return clients(20, func(i int, h *history.Builder) {
		var waits []time.Duration
		for k := range n {
			delay := min(500*ms<<k, 64*s)
			waits = append(waits, time.Duration(float64(delay)*jitter(i, delay)))
		}
		h.Retries(0, 503, waits...)
	})
}

// equalJitter draws from half of the delay to all of it.
func equalJitter(seed uint64) func(int, time.Duration) float64 {
	r := rand.New(rand.NewPCG(seed, seed))
	return func(int, time.Duration) float64 { return 0.5 + r.Float64()/2 }
}

// Full jitter surprises with waits close to zero, which are lawful (nucliadb 1821): the distribution counts.
func TestShortWaitsOfFullJitterAreLawful(t *testing.T) {
	contract := load(t, "backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: full}")
	r := rand.New(rand.NewPCG(1, 1))
	h := clients(200, func(i int, h *history.Builder) {
		wait := time.Duration(r.Int64N(int64(100 * ms)))
		if i == 0 {
			wait = 3 * ms
		}
		h.Attempt(0, ms, 503).Attempt(ms+wait, ms, 200)
	})
	if got := broken(contract, assert.Advisory, grouped(h, nil)); len(got) > 0 {
		t.Errorf("broken: %v", got)
	}
}

// Schedules that vendors publish grow in their own ways (Ashby: (2^n-1)*10 s; AhaSend: n^4).
func TestPublishedSchedulesGrow(t *testing.T) {
	ashby := []time.Duration{10 * s, 30 * s, 70 * s, 150 * s, 310 * s, 630 * s}
	ahasend := []time.Duration{s, 16 * s, 81 * s, 256 * s, 625 * s}
	for _, waits := range [][]time.Duration{ashby, ahasend} {
		if got := (assert.BackoffGrowth{}).Check(grouped(history.New().Retries(0, 503, waits...), nil)); got.Verdict != assert.Pass {
			t.Errorf("%v: %s, %s", waits, got.Verdict, got.Detail)
		}
	}
	early := history.New().Retries(0, 503, 9200*ms, 30*s)
	if got := (assert.MinSpacing{Min: 10 * s}).Check(grouped(early, nil)); got.Verdict != assert.Fail {
		t.Errorf("9.2 s for 10: %s, %s", got.Verdict, got.Detail)
	}
}
