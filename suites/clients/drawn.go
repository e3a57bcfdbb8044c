package clients

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// Lawful draws a client that keeps the strict contract: any growth, jitter, cap and method that it allows. The same source
// gives the same policy; its waits are drawn anew in each call.
func Lawful(draw *rand.Rand) Client {
	p, words := lawful(draw)
	return Client{Name: "lawful", Summary: words, Call: p.call}
}

func lawful(draw *rand.Rand) (policy, string) {
	p := polite()
	var words []string
	note := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }

	switch draw.IntN(5) {
	case 0:
		p = politePost()
	case 1:
		p.method = http.MethodPut
	case 2:
		p.method = http.MethodDelete
	case 3:
		p.method = http.MethodHead
	}
	p.attempts = 2 + draw.IntN(3)
	p.timeout = 2*time.Second + below(draw, 5*time.Second)
	note("%s, %d attempts of %v", p.method, p.attempts, p.timeout.Round(time.Millisecond))

	base := 200*time.Millisecond + below(draw, 1300*time.Millisecond)
	curve, name := drawnCurve(draw, base)
	lo, hi := drawnJitter(draw)
	p.wait = between(curve, lo, hi)
	note("%s from %v, jitter %.2f to %.2f", name, base.Round(time.Millisecond), lo, hi)

	if draw.IntN(3) == 0 {
		p.retryAfter = givesUpAbove(time.Duration(draw.IntN(6)) * time.Second)
		note("gives up on long waits")
	}
	if draw.IntN(3) == 0 {
		p.retry = func(o outcome) bool { return o.status == http.StatusRequestTimeout || transient(o) }
		note("retries 408 too")
	}
	return p, strings.Join(words, "; ")
}

// below draws a time from [0, limit).
func below(draw *rand.Rand, limit time.Duration) time.Duration {
	return time.Duration(draw.Int64N(int64(limit)))
}

// drawnCurve grows by 1.5 at least, as half of the libraries' defaults do, and stays below the contract's cap.
func drawnCurve(draw *rand.Rand, base time.Duration) (func(int) time.Duration, string) {
	switch draw.IntN(4) {
	case 0:
		return linear(base), "linear"
	case 1:
		return func(retry int) time.Duration { return base * (1<<retry - 1) }, "2^n-1"
	case 2:
		return fibonacci(base), "fibonacci"
	default:
		factor := 1.5 + 1.5*draw.Float64()
		return geometric(base, factor), fmt.Sprintf("x %.2f", factor)
	}
}

// drawnJitter is full, equal, added, or proportional from 10 % on.
func drawnJitter(draw *rand.Rand) (lo, hi float64) {
	switch draw.IntN(4) {
	case 0:
		return 0, 1
	case 1:
		return 0.5, 1
	case 2:
		return 1, 1.2 + 0.5*draw.Float64()
	default:
		width := 0.1 + 0.4*draw.Float64()
		return 1 - width, 1 + width
	}
}

// givesUpAbove ends the call when it is told to wait longer than that.
func givesUpAbove(limit time.Duration) func(http.Header) (time.Duration, bool) {
	return func(h http.Header) (time.Duration, bool) {
		told, ok := keepRetryAfter(h)
		if told > limit {
			told = math.MaxInt64 // no call lasts that long: it ends here
		}
		return told, ok
	}
}

// Broken draws a lawful client and gives it one defect; Breaks has the clauses that show it for certain.
func Broken(draw *rand.Rand) Client {
	p, words := lawful(draw)
	d := defects[draw.IntN(len(defects))]
	breaks := d.mar(&p, draw)
	return Client{Name: d.name, Summary: d.name + "; " + words, Breaks: breaks, Call: p.call}
}

// defect is one thing that a policy can have wrong, with parameters drawn.
type defect struct {
	name string
	mar  func(p *policy, draw *rand.Rand) (breaks []string)
}

var defects = []defect{
	{"too many attempts", func(p *policy, draw *rand.Rand) []string {
		p.attempts, p.within = 5+draw.IntN(20), time.Hour
		p.wait = between(exponential(100*time.Millisecond, time.Second), 0.5, 1)
		return []string{"retry-cap"}
	}},
	{"no wait", func(p *policy, draw *rand.Rand) []string {
		p.attempts, p.wait = 3+draw.IntN(2), always(below(draw, 3*time.Millisecond))
		return []string{"min-spacing"}
	}},
	{"retries a 4xx", func(p *policy, draw *rand.Rand) []string {
		retry, codes := p.retry, []int{400, 403, 404, 405, 410, 422}
		from := draw.IntN(len(codes))
		p.retry = func(o outcome) bool { return retry(o) || o.status == 400 || o.status == codes[from] }
		return []string{"no-retry-4xx"}
	}},
	{"no growth", func(p *policy, draw *rand.Rand) []string {
		p.attempts = 4
		p.wait = between(always(200*time.Millisecond+below(draw, time.Second)), 0.8, 1.2)
		return []string{"backoff-growth"}
	}},
	{"no jitter", func(p *policy, draw *rand.Rand) []string {
		p.attempts = 4
		p.wait = geometric(500*time.Millisecond+below(draw, time.Second), 1.5+draw.Float64())
		return []string{"jitter-present"}
	}},
	{"Retry-After ignored", func(p *policy, draw *rand.Rand) []string {
		p.retryAfter = noRetryAfter
		p.wait = fullJitter(200*time.Millisecond, time.Second)
		return []string{"retry-after-delta", "retry-after-date"}
	}},
	{"Retry-After cut short", func(p *policy, draw *rand.Rand) []string {
		share := 0.1 + 0.6*draw.Float64()
		p.wait = fullJitter(100*time.Millisecond, 500*time.Millisecond)
		p.retryAfter = func(h http.Header) (time.Duration, bool) {
			told, ok := keepRetryAfter(h)
			return time.Duration(share * float64(told)), ok
		}
		return []string{"retry-after-delta"}
	}},
	{"write without a key", func(p *policy, draw *rand.Rand) []string {
		q := politePost()
		p.method, p.body, p.key = []string{http.MethodPost, http.MethodPatch}[draw.IntN(2)], q.body, nil
		return []string{"idempotent-only"}
	}},
	{"a key for each attempt", func(p *policy, _ *rand.Rand) []string {
		q := politePost()
		p.method, p.body, p.key, p.newKeys = q.method, q.body, q.key, true
		return []string{"idempotency-key-stable"}
	}},
	{"half of the body lost", func(p *policy, draw *rand.Rand) []string {
		q := politePost()
		from := 1 + draw.IntN(10)
		p.method, p.key = q.method, q.key
		p.body = func(attempt int) string {
			if attempt > 1 {
				return q.body(attempt)[from:]
			}
			return q.body(attempt)
		}
		return []string{"body-identical"}
	}},
	{"never retries", func(p *policy, _ *rand.Rand) []string {
		p.attempts = 1
		return []string{"retries-transient"}
	}},
	{"no deadline", func(p *policy, draw *rand.Rand) []string {
		p.attempts, p.within, p.timeout = 4, time.Hour, 12*time.Second+below(draw, 10*time.Second)
		return []string{"total-deadline"}
	}},
}
