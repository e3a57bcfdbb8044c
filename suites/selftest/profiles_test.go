package selftest

import (
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/scenarios"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// proof is what a profile's documents say of a client, and habits that they rule out.
type proof struct {
	documented habit
	opposites  map[string]func(*habit) // by the clause that each breaks
}

func statuses(codes ...int) []int { return codes }

// span lists statuses from one to another.
func span(from, to int) (codes []int) {
	for c := from; c <= to; c++ {
		codes = append(codes, c)
	}
	return codes
}

func also(codes ...int) func(*habit) {
	return func(h *habit) { h.statuses = append(slices.Clone(h.statuses), codes...) }
}

var proofs = map[string]proof{
	"strict": {
		habit{attempts: 4, timeout: 4 * s, within: 25 * s, statuses: statuses(429, 500, 502, 503, 504), network: true, cut: true, late: true,
			wait: exponential(500*ms, 8*s, 0, 1), told: obeys(time.Minute)},
		map[string]func(*habit){"no-retry-4xx": also(400), "retry-after-delta": func(h *habit) { h.told = ignores }},
	},
	"aws": { // botocore in standard mode
		habit{attempts: 3, timeout: 60 * s, statuses: statuses(429, 500, 502, 503, 504, 509), network: true, cut: true, late: true,
			wait: exponential(s, 20*s, 0, 1), told: ignores},
		map[string]func(*habit){
			"no-retry-4xx": also(408), "no-retry-permanent-5xx": also(520), "retry-cap": func(h *habit) { h.attempts = 4 },
			"backoff-growth": func(h *habit) { h.wait = exponential(s, s, 0.9, 1.1); h.attempts = 9 },
		},
	},
	"gcs": { // google-cloud-storage for Python
		habit{timeout: 60 * s, within: 120 * s, statuses: statuses(408, 429, 500, 502, 503, 504), network: true, cut: true, late: true,
			wait: exponential(s, 60*s, 0, 1), told: ignores},
		map[string]func(*habit){
			"total-deadline": func(h *habit) { h.within = 5 * time.Minute }, "no-retry-4xx": also(409),
			"jitter-present": func(h *habit) { h.wait = exponential(s, 60*s, 1, 1) },
		},
	},
	"azure": { // azcore for Go: (2^n - 1) * 0.8 s * [0.8, 1.3)
		habit{attempts: 4, timeout: 60 * s, statuses: statuses(408, 429, 500, 502, 503, 504), network: true, cut: true, late: true,
			wait: func(r *rand.Rand, k int) time.Duration {
				return min(scatter(r, (1<<k-1)*800*ms, 0.8, 1.3), time.Minute)
			}, told: obeys(time.Minute)},
		map[string]func(*habit){
			"no-retry-permanent-5xx": also(501), "min-spacing": func(h *habit) { h.wait = exponential(200*ms, 60*s, 0.8, 1.3) },
			"retry-after-delta": func(h *habit) { h.told = ignores },
		},
	},
	"otlp": { // an exporter with the SDKs' bounds
		habit{method: http.MethodPost, path: "/v1/traces", attempts: 4, timeout: 5 * s, within: 30 * s, statuses: statuses(429, 502, 503, 504),
			network: true, cut: true, late: true, wait: exponential(s, 5*s, 0.8, 1.2), told: obeys(30 * s)},
		map[string]func(*habit){
			"no-retry-permanent-5xx": also(500), "no-retry-4xx": also(408), "retry-after-delta": func(h *habit) { h.told = ignores },
			"idempotent-only": func(h *habit) { h.path = "/orders" },
		},
	},
	"grpc": { // the sample policy of A6, over HTTP/1
		habit{method: http.MethodPost, path: "/shop.Cart/Add", attempts: 4, timeout: 10 * s, within: 10 * s, statuses: statuses(429, 502, 503, 504),
			network: true, wait: exponential(100*ms, s, 0, 1), told: ignores},
		map[string]func(*habit){
			"no-retry-permanent-5xx": also(500), "retry-cap": func(h *habit) { h.cut = true },
			"delay-cap": func(h *habit) { h.wait = exponential(3*s, 3*s, 0, 1) },
		},
	},
	"dotnet": { // AddStandardResilienceHandler
		habit{attempts: 4, timeout: 10 * s, within: 30 * s, statuses: append(span(500, 599), 408, 429), network: true, cut: true, late: true,
			wait: pollys, told: obeys(30 * s)},
		map[string]func(*habit){
			"total-deadline": func(h *habit) { h.within = 0 }, "no-retry-4xx": also(409), "retry-cap": func(h *habit) { h.attempts = 5 },
		},
	},
	"k8s": { // client-go: only what carries Retry-After, and resets of GET
		habit{attempts: 11, timeout: 60 * s, statuses: append(span(500, 599), 429), network: true,
			wait: exponential(s, s, 1, 1), told: func(r *http.Response) (time.Duration, bool) {
				wait, _ := obeys(time.Hour)(r)
				return wait, wait > 0
			}},
		map[string]func(*habit){
			"no-retry-permanent-5xx": func(h *habit) { h.told = ignores }, "retry-cap": func(h *habit) { h.late = true },
			"retry-after-delta": func(h *habit) { h.told = ignores },
			"no-retry-4xx":      func(h *habit) { h.told = ignores; also(409)(h) },
		},
	},
	"stripe": { // stripe-python
		habit{method: http.MethodPost, key: "Idempotency-Key", path: "/v1/charges", attempts: 3, timeout: 80 * s, statuses: append(span(500, 599), 409),
			network: true, cut: true, late: true, wait: func(r *rand.Rand, k int) time.Duration {
				return max(500*ms, exponential(500*ms, 5*s, 0.5, 1)(r, k))
			}, told: obeys(60 * s)},
		map[string]func(*habit){
			"idempotent-only": func(h *habit) { h.key = "" }, "idempotency-key-stable": func(h *habit) { h.key = "" }, "no-retry-4xx": also(408),
			"min-spacing": func(h *habit) { h.wait = exponential(50*ms, 5*s, 0.5, 1) },
		},
	},
	"webhook": { // Standard Webhooks with jitter of 10 % either way
		habit{method: http.MethodPost, key: "webhook-id", path: "/hook", attempts: 10, timeout: 20 * s, statuses: slices.DeleteFunc(span(300, 599),
			func(c int) bool { return c == 410 }), network: true, cut: true, late: true, wait: standardWebhooks, told: obeys(24 * time.Hour)},
		map[string]func(*habit){
			"no-retry-4xx": also(410), "backoff-growth": func(h *habit) { h.wait = exponential(5*s, 5*s, 0.9, 1.1) },
			"delay-cap":   func(h *habit) { h.wait = func(r *rand.Rand, k int) time.Duration { return 3 * standardWebhooks(r, k) } },
			"min-spacing": func(h *habit) { h.wait = exponential(s, time.Hour, 0.9, 1.1) }, "retry-cap": func(h *habit) { h.attempts = 12 },
		},
	},
}

// scatter draws from lo to hi times d.
func scatter(r *rand.Rand, d time.Duration, lo, hi float64) time.Duration {
	return exponential(d, d, lo, hi)(r, 1)
}

// pollys is the curve of Polly V2 (DecorrelatedJitterBackoffV2) with a median of 2 s for the first wait.
func pollys(r *rand.Rand, k int) time.Duration {
	at := func(from int) float64 {
		t := float64(from) + r.Float64()
		return math.Exp2(t) * math.Tanh(math.Sqrt(4*t))
	}
	before := 0.0
	if k > 1 {
		before = at(k - 2)
	}
	return time.Duration((at(k-1) - before) / 1.4 * float64(2*s))
}

func standardWebhooks(r *rand.Rand, k int) time.Duration {
	schedule := []time.Duration{5 * s, 300 * s, 1800 * s, 7200 * s, 5 * 3600 * s, 10 * 3600 * s, 14 * 3600 * s, 20 * 3600 * s, 24 * 3600 * s}
	return scatter(r, schedule[min(k, len(schedule))-1], 0.9, 1.1)
}

// trials are the scenarios that ship and need no TLS, which the server here does not speak, and what they leave out: codes that
// profiles disagree on, and failures that last.
func trials(t *testing.T) []scenarios.Scenario {
	t.Helper()
	all := slices.DeleteFunc(scenarios.All(), func(s scenarios.Scenario) bool { return s.Plan().NeedsTLS() })
	for _, text := range []string{`
name: disputed-codes
summary: Each client meets one of the codes that profiles disagree on.
judges: [no-retry-4xx, no-retry-permanent-5xx, retry-cap, min-spacing, stop-after-success]
clients: 15
rules: [{per: client, sweep: [408, 409, 410, 413, 421, 423, 425, 500, 501, 502, 503, 504, 509, 520, 302]}]
`, `
name: lasting-503
summary: 503 for good.
judges: [retry-cap, total-deadline, min-spacing, backoff-growth, delay-cap, jitter-present, amplification-factor, client-rate, identical-payload-rate]
clients: 20
rules: [{fault: 503}]
`, `
name: lasting-503-with-date
summary: 503 for good, with a time to come back.
judges: [retry-cap, retry-after-delta, retry-after-date, client-rate]
clients: 6
rules: [{per: client, sweep: [{status: {code: 503, retry-after: 4s}}, {status: {code: 503, retry-after: {date: 4s}}}]}]
`} {
		sc, err := scenarios.Load("trial.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sc)
	}
	return all
}

// A client that does what a profile's documents say keeps the profile; one with an opposite habit breaks what it should.
func TestProfilesTellTheirClientsFromOthers(t *testing.T) {
	all := trials(t)
	for _, p := range assert.Profiles.All() {
		proof, ok := proofs[p.Name]
		if !ok {
			t.Errorf("no client proves the profile %s", p.Name)
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			passed := map[string]bool{}
			for _, sc := range all {
				for _, r := range play(t, p.Contract(), sc, proof.documented) {
					if r.Verdict == assert.Fail {
						t.Errorf("false alarm in %s: %s: %s", sc.Name, r.Clause, r.Detail)
					}
					passed[r.Clause] = passed[r.Clause] || r.Verdict == assert.Pass
				}
			}
			for clause, change := range proof.opposites {
				h := proof.documented
				change(&h)
				if !slices.ContainsFunc(all, func(sc scenarios.Scenario) bool { return breaks(t, p.Contract(), sc, h, clause) }) {
					t.Errorf("missed: %s", clause)
				}
				if !passed[clause] {
					t.Errorf("%s: the documented client never passes it", clause)
				}
			}
		})
	}
}

func breaks(t *testing.T, c *assert.Contract, sc scenarios.Scenario, h habit, clause string) bool {
	if !slices.Contains(sc.Judges, clause) {
		return false
	}
	sc.Judges = []string{clause}
	return play(t, c, sc, h)[0].Verdict == assert.Fail
}
