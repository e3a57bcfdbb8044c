package assert_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/assert/internal/history"
)

// rounded judges a client that keeps to its waits, by times that a log rounded down.
func rounded(t *testing.T, clause assert.Clause, exact time.Duration, waits ...time.Duration) assert.Result {
	t.Helper()
	b, random := history.New(), rand.New(rand.NewPCG(1, 2))
	for call := range 30 {
		b.Request("GET", "/"+string(rune('a'+call)))
		at := time.Duration(call)*time.Hour + time.Duration(random.Int64N(int64(time.Second)))
		b.Attempt(at.Truncate(exact), 0, 503)
		for _, wait := range waits {
			at += wait
			b.Attempt(at.Truncate(exact), 0, 503)
		}
	}
	run := &assert.Run{Ended: true, Noise: assert.Noise{Resolution: exact}}
	calls := assert.Calls(b.Entries(), assert.Key{Run: run})
	if len(calls) != 30 {
		t.Fatalf("%d calls", len(calls))
	}
	return clause.Check(calls)
}

// TestRounded holds no client to a wait that whole seconds only seem to cut short, and still sees what they show.
func TestRounded(t *testing.T) {
	const sec = time.Second
	rows := []struct {
		name   string
		clause assert.Clause
		exact  time.Duration
		waits  []time.Duration
		want   assert.Verdict
	}{
		{"waits of 1.9 s look like 1 s", &assert.MinSpacing{Min: 1900 * ms, Base: sec}, sec, []time.Duration{1900 * ms, 1900 * ms}, assert.Pass},
		{"the same from exact times", &assert.MinSpacing{Min: 1900 * ms, Base: sec}, ms, []time.Duration{1900 * ms, 1900 * ms}, assert.Pass},
		{"half a second where two were agreed", &assert.MinSpacing{Min: 2 * sec, Base: sec}, sec, []time.Duration{500 * ms, 500 * ms}, assert.Fail},
		{"three quarters of a second look like none", &assert.MinSpacing{Base: sec}, sec, []time.Duration{750 * ms, 750 * ms, 750 * ms}, assert.Pass},
		{"hundreds a minute show in any clock", &assert.MinSpacing{Base: sec}, sec, repeat(300, 100*ms), assert.Fail},
		{"ten in ten seconds, where nine seconds look like it", &assert.ClientRate{Limits: assert.Rates{{N: 10, Per: 10 * sec}}}, sec, repeat(10, 1100*ms), assert.Pass},
		{"thirty in ten seconds", &assert.ClientRate{Limits: assert.Rates{{N: 10, Per: 10 * sec}}}, sec, repeat(40, 300*ms), assert.Fail},
		{"a curve that whole seconds cut short", &assert.BackoffGrowth{Curve: assert.Delays{Initial: 1500 * ms, Multiplier: 2}}, sec,
			[]time.Duration{1500 * ms, 3 * sec, 6 * sec}, assert.Pass},
		{"waits of 1.5 s look like 2 s", &assert.DelayCap{Max: 1500 * ms}, sec, []time.Duration{1500 * ms, 1500 * ms}, assert.Pass},
		{"waits of 5 s where 1.5 were agreed", &assert.DelayCap{Max: 1500 * ms}, sec, []time.Duration{5 * sec, 5 * sec}, assert.Inconclusive},
		{"2.4 s look like 3 s", &assert.TotalDeadline{Within: 2500 * ms}, sec, []time.Duration{1500 * ms, 900 * ms}, assert.Pass},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if r := rounded(t, row.clause, row.exact, row.waits...); r.Verdict != row.want {
				t.Errorf("%s, want %s: %s", r.Verdict, row.want, r.Detail)
			}
		})
	}
}

// TestTooCoarse takes verdicts on the pattern of waits back where whole seconds cannot show it.
func TestTooCoarse(t *testing.T) {
	for _, id := range []string{"backoff-growth", "jitter-present"} {
		for wait, want := range map[time.Duration]bool{200 * ms: false, 10 * time.Second: true} {
			b := history.New()
			for call := range 40 {
				b.Request("GET", "/"+string(rune('a'+call)))
				at := time.Duration(call) * time.Hour
				for k := range 4 {
					b.Attempt(at.Truncate(time.Second), 0, 503)
					at += wait<<k + time.Duration(call)*wait/40
				}
			}
			run := &assert.Run{Ended: true, Noise: assert.Noise{Resolution: time.Second}}
			results := assert.Judge(assert.Strict(), []string{id}, assert.Calls(b.Entries(), assert.Key{Run: run}))
			if decided := results[0].Verdict != assert.Inconclusive; decided != want {
				t.Errorf("%s with waits from %s: %s: %s", id, wait, results[0].Verdict, results[0].Detail)
			}
		}
	}
}
