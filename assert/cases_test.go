package assert_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// p0 is the contract of the cases below: 4 attempts, 0.1 s doubling to 1 s, +-20 %, Retry-After up to 30 s.
const p0 = `
attempts: {max: 4, within: 10s}
backoff: {initial: 100ms, multiplier: 2, max: 1s, jitter: {proportional: 0.2}}
retry-after: {max: 30s, longer: give-up}
`

// publicCase is the shortest history of a public bug report: how the client behaved, and how it does since it was mended.
type publicCase struct {
	source    string
	contract  string // what differs from p0
	bad, good *history.Builder
	breaks    []string // what bad must fail; nothing may fail on good
}

func TestPublicCases(t *testing.T) {
	get := history.New
	one := func(status int) *history.Builder { return get().Attempt(0, ms, status) }
	date := epoch.Add(3 * s).Truncate(s).Format(imf)
	for _, c := range []publicCase{
		{source: "fluent-bit 8860: every 4xx retried", bad: post().Retries(0, 400, repeat(20, 100*ms)...), good: post().Attempt(0, ms, 400),
			breaks: []string{"no-retry-4xx", "retry-cap"}},
		{source: "opencode 40090: a cap on the delay, none on the count", contract: "backoff: {initial: 10ms, multiplier: 2, max: 20ms, jitter: none}",
			bad: get().Retries(0, 503, append([]time.Duration{10 * ms}, repeat(58, 20*ms)...)...), good: get().Retries(0, 503, 10*ms, 20*ms, 20*ms),
			breaks: []string{"retry-cap"}},
		{source: "AirQo 3985: the cap did not count 429", contract: "attempts: {max: 2}",
			bad: directed(429, "1", repeat(9, s)...), good: directed(429, "1", s), breaks: []string{"retry-cap"}},
		{source: "cert-manager 758: went on after success", bad: post().Attempt(0, ms, 200).Retries(s, 400, s), good: post().Attempt(0, ms, 200),
			breaks: []string{"stop-after-success", "no-retry-4xx"}},
		{source: "nightscout-connect 68: the configured base is not in force", contract: "backoff: {initial: 1500ms, multiplier: 2, max: 9s, jitter: none}",
			bad: get().Retries(0, 503, 256*ms, 512*ms), good: get().Retries(0, 503, 1500*ms, 3*s), breaks: []string{"min-spacing"}},
		{source: "retry4j 36: the first delay is always 0", contract: "backoff: {jitter: none}",
			bad: get().Retries(0, 503, 0, 100*ms, 300*ms), good: get().Retries(0, 503, 100*ms, 200*ms, 400*ms), breaks: []string{"min-spacing"}},
		{source: "onos-lib-go 127: the delay overflows", contract: "attempts: {max: 100, within: 60s}\nbackoff: {initial: 1ms, multiplier: 2, max: 20ms, jitter: none}\nlimits: {client-rate: 1000/1m}",
			bad:  get().Retries(0, 503, append(append([]time.Duration{ms, 2 * ms, 4 * ms, 8 * ms, 16 * ms}, repeat(38, 20*ms)...), repeat(20, ms/2)...)...),
			good: get().Retries(0, 503, append([]time.Duration{ms, 2 * ms, 4 * ms, 8 * ms, 16 * ms}, repeat(58, 20*ms)...)...), breaks: []string{"backoff-growth"}},
		{source: "synapse 6025: jitter falls back to zero", contract: "attempts: {max: 100, within: 60s}\nbackoff: {initial: 20ms, multiplier: 2, max: 320ms, jitter: {proportional: 0.2}}",
			bad:  get().Retries(0, 503, 20*ms, 40*ms, 80*ms, 160*ms, 320*ms, 10*ms, 310*ms, 20*ms),
			good: get().Retries(0, 503, 20*ms, 40*ms, 80*ms, 160*ms, 320*ms, 256*ms, 384*ms, 300*ms), breaks: []string{"backoff-growth"}},
		{source: "agenda 1748: jitter after the cap", contract: "attempts: {max: 20, within: 60s}\nbackoff: {initial: 1s, multiplier: 1, max: 1s, jitter: full}",
			bad:  get().Retries(0, 503, 1100*ms, 1400*ms, 1300*ms, 1450*ms, 1200*ms),
			good: get().Retries(0, 503, 900*ms, 300*ms, 700*ms, s, 450*ms), breaks: []string{"delay-cap"}},
		{source: "atlas 229: a date read as nothing", bad: directed(429, date, 100*ms), good: directed(429, date, 3*s), breaks: []string{"retry-after-date"}},
		{source: "crawlee-python 1995: -5 s switches throttling off", bad: directed(429, "-5", 4*ms), good: directed(429, "-5", 100*ms), breaks: []string{"min-spacing"}},
		{source: "0 means now, or own backoff", bad: directed(429, "0", 0, 0, 0, 0, 0), good: directed(429, "0", 0, 0, 0), breaks: []string{"retry-cap"}},
		{source: "azure-sdk-for-net 5268: seconds taken for milliseconds", bad: directed(429, "2", 2*ms), good: directed(429, "2", 2*s), breaks: []string{"retry-after-delta"}},
		{source: "compound-cli 43: values over the client's own cap discarded", bad: directed(429, "3", 400*ms, 800*ms), good: directed(429, "3", 3*s),
			breaks: []string{"retry-after-delta"}},
		{source: "longer than the contract's maximum: give up", bad: directed(429, "86400", s), good: get().Attempt(0, ms, 429).RetryAfter("86400"),
			breaks: []string{"retry-after-delta"}},
		{source: "terraform-provider-vercel 509: 429 without a header is not retried", bad: one(429), good: get().Retries(0, 429, 100*ms, 200*ms),
			breaks: []string{"retries-transient"}},
		{source: "azure-sdk-for-rust 4544: N+2 requests for N retries", contract: "attempts: {max: 3}",
			bad: get().Retries(0, 429, 100*ms, 200*ms, 400*ms), good: get().Retries(0, 429, 100*ms, 200*ms), breaks: []string{"retry-cap"}},
		{source: "got 786: POST sent again after the client's own timeout", bad: post().Left(0, 600*ms).Attempt(700*ms, s, 200), good: post().Left(0, 600*ms),
			breaks: []string{"idempotent-only"}},
		{source: "gocardless-pro-python 12: a key for each attempt", bad: post().Key("a").Cut(0, ms).Key("b").Attempt(101*ms, ms, 201),
			good: post().Key("a").Cut(0, ms).Attempt(101*ms, ms, 201), breaks: []string{"idempotency-key-stable"}},
		{source: "runitor 181: the body is not rewound", bad: post().Key("a").Attempt(0, ms, 503).Body("").Attempt(101*ms, ms, 400),
			good: post().Key("a").Attempt(0, ms, 503).Attempt(101*ms, ms, 200), breaks: []string{"body-identical"}},
		{source: "retryablehttp-go 554: the deadline only broke the wait", contract: "attempts: {max: 6, within: 500ms}\nclauses: {retries-transient: off}",
			bad: get().Retries(0, 503, 499*ms, 0, 0, 0, 0), good: get().Attempt(0, ms, 503), breaks: []string{"min-spacing"}},
		{source: "axios-retry 21: no timeout left is none at all", contract: "attempts: {within: 300ms}",
			bad: get().Cut(0, 95*ms).Cut(195*ms, 5*ms).Left(400*ms, 5*s), good: get().Cut(0, 95*ms).Left(195*ms, 105*ms), breaks: []string{"total-deadline"}},
		{source: "tus-js-client 196: 423 is retried", bad: get().Retries(0, 423, 100*ms), good: one(423), breaks: []string{"no-retry-4xx"}},
		{source: "tus-js-client 196: 423 is retried, as agreed", contract: "responses: {423: backoff}", bad: nil, good: get().Attempt(0, ms, 423).Attempt(101*ms, ms, 204)},
		{source: "architecture-center 4274: created, 500, then 409", bad: get().Request("PUT", "/x").Body("b").Attempt(0, ms, 500).Retries(101*ms, 409, 200*ms),
			good: get().Request("PUT", "/x").Body("b").Attempt(0, ms, 500).Attempt(101*ms, ms, 409), breaks: []string{"no-retry-4xx"}},
		{source: "openmeet 414: refreshed for ever", bad: refreshing(50), good: refreshing(2), breaks: []string{"no-retry-4xx"}},
		{source: "retries of a resetting server, capped for answers only", bad: resets(9, 200*ms), good: resets(2, 100*ms), breaks: []string{"retry-cap"}},
		{source: "canvas-course-manager 249: each failure fetches again", bad: get().Retries(0, 500, repeat(24, ms)...), good: get().Retries(0, 500, 100*ms, 200*ms, 400*ms),
			breaks: []string{"retry-cap", "min-spacing", "client-rate", "identical-payload-rate", "amplification-factor"}},
		{source: "kubernetes 26871: 429 told to wait, tried 17.5 ms later", bad: directed(429, "1", 17500*time.Microsecond, 17500*time.Microsecond), good: directed(429, "1", s, s),
			breaks: []string{"retry-after-delta"}},
		{source: "dartastic 305: 502 and 504 are not recognised", bad: one(502), good: get().Attempt(0, ms, 502).Attempt(101*ms, ms, 200), breaks: []string{"retries-transient"}},
		{source: "seatunnel 11974: compressed once, sent three times", good: post().Key("k").Attempt(0, ms, 503).Attempt(101*ms, ms, 503).Attempt(302*ms, ms, 204)},
		{source: "golang 48438: the transport's own repeat", contract: "attempts: {max: 1}", good: get().Conn(1).Attempt(0, ms, 200).Client("b").Cut(s, 0).Conn(2).Attempt(s+ms/4, ms, 200)},
	} {
		t.Run(c.source, func(t *testing.T) {
			contract := load(t, merged(p0, c.contract))
			run := &assert.Run{Ended: true, Began: epoch, Noise: calm}
			if c.bad != nil {
				got := broken(contract, assert.Advisory, grouped(c.bad, run))
				for _, id := range c.breaks {
					if !slices.Contains(got, id) {
						t.Errorf("as it was it breaks %v, not %s", got, id)
					}
				}
			}
			if got := broken(contract, assert.Advisory, grouped(c.good, run)); len(got) > 0 {
				t.Errorf("mended, it breaks %v", got)
			}
		})
	}
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

// directed is a client that meets status with that Retry-After again and again, and waits so long each time.
func directed(status int, value string, waits ...time.Duration) *history.Builder {
	h, at := history.New().Attempt(0, 0, status).RetryAfter(value), time.Duration(0)
	for _, w := range waits {
		at += w
		h.Attempt(at, 0, status).RetryAfter(value)
	}
	return h
}

// refreshing is a client that meets 401 n times, each with a new token.
func refreshing(n int) *history.Builder {
	h := history.New()
	for i := range n {
		h.Auth(uint64(i+1)).Attempt(ns(i)*200*ms, ms, 401)
	}
	return h
}

// resets is a client whose connections are reset, on n retries after the first attempt.
func resets(n int, wait time.Duration) *history.Builder {
	h, at := history.New().Cut(0, 0), time.Duration(0)
	for range n {
		at += wait
		wait *= 2
		h.Cut(at, 0)
	}
	return h
}

// merged puts sections of a contract in place of those of the same name.
func merged(base, other string) string {
	text := other + "\n"
	for line := range strings.Lines(base) {
		section, _, _ := strings.Cut(line, ":")
		if section = strings.TrimSpace(section); section != "" && !strings.Contains("\n"+other, "\n"+section+":") {
			text += line
		}
	}
	return text
}
