package infer

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

const second = time.Second

// repeated is so many calls with the same waits.
func repeated(calls int, waits ...time.Duration) [][]time.Duration {
	return slices.Repeat([][]time.Duration{waits}, calls)
}

// drawn is so many calls of a policy on an ideal machine, as in virtual time.
func drawn(calls, retries int, seed uint64, wait func(r *rand.Rand, k int) float64) [][]time.Duration {
	r := rand.New(rand.NewPCG(seed, 9))
	all := make([][]time.Duration, calls)
	for i := range all {
		for k := range retries {
			all[i] = append(all[i], time.Duration(wait(r, k)*1e9))
		}
	}
	return all
}

func within(r *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*r.Float64() }

// names are those of candidates.
func names(all []Candidate) string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.Name
	}
	return strings.Join(words, ", ")
}

// Few waits leave families open, and what would decide is told.
func TestNothingIsInvented(t *testing.T) {
	for _, test := range []struct {
		name               string
		calls              [][]time.Duration
		family, candidates string
		needs              string
	}{
		{"no waits", nil, Undecided, "", ""},
		{"one wait", repeated(20, second), Undecided, "", "3 more retries in a call"},
		{"two waits, twice as long", repeated(20, second, 2*second), Undecided, "exponential, linear, fibonacci, quadratic plus one", "2 more retries in a call"},
		{"two equal waits", repeated(20, second, second), Undecided, "constant, fibonacci from 1, 1", "2 more retries in a call"},
		{"three waits, linear or Fibonacci", repeated(20, second, 2*second, 3*second), Undecided, "linear, fibonacci", "1 more retry in a call would tell linear from fibonacci"},
		{"three waits that only double", repeated(20, second, 2*second, 4*second), "exponential", "", ""},
		{"one call of four waits", repeated(1, second, 2*second, 4*second, 8*second), "exponential", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := BackoffOf(test.calls, Options{}).Growth
			if g.Family != test.family || names(g.Candidates) != test.candidates || !strings.HasPrefix(g.Needs, test.needs) {
				t.Errorf("%s of %q, needs %q; want %s of %q, needs %q", g.Family, names(g.Candidates), g.Needs, test.family, test.candidates, test.needs)
			}
			if g.Decided == (g.Family == Undecided) {
				t.Errorf("decided: %v, family %s", g.Decided, g.Family)
			}
		})
	}
}

// One call never decides jitter, however its waits look.
func TestOneCallShowsNoJitter(t *testing.T) {
	for seed := range uint64(30) {
		for name, calls := range map[string][][]time.Duration{
			"steady": repeated(1, second, 2*second, 4*second, 8*second, 16*second),
			"full":   drawn(1, 6, seed, func(r *rand.Rand, k int) float64 { return within(r, 0, math.Exp2(float64(k))) }),
		} {
			b := BackoffOf(calls, Options{})
			if b.Jitter.Decided || b.Jitter.Kind != Undecided || b.Jitter.Needs == "" {
				t.Errorf("%s: jitter %+v", name, b.Jitter)
			}
			if name == "full" && b.Growth.Decided {
				t.Errorf("full jitter in one call named %s", b.Growth.Family)
			}
		}
	}
}

func TestSpecialShapes(t *testing.T) {
	for _, test := range []struct {
		name  string
		calls [][]time.Duration
		check func(b Backoff) bool
	}{
		{"urllib3: the first retry at once", repeated(5, 0, second, 2*second, 4*second), func(b Backoff) bool {
			return b.Growth.Family == "exponential" && b.Growth.FirstZero && b.Initial.Value == 1000
		}},
		{"wget: linear to a limit", repeated(3, 1*second, 2*second, 3*second, 4*second, 5*second, 6*second, 6*second, 6*second), func(b Backoff) bool {
			return b.Growth.Family == "linear" && b.Max != nil && b.Max.Value == 6000
		}},
		{"resty: a steady first wait", drawn(20, 5, 1, func(r *rand.Rand, k int) float64 {
			d := 0.1 * math.Exp2(float64(k))
			return max(0.1, within(r, d/2, d))
		}), func(b Backoff) bool {
			return b.Growth.Family == "exponential" && b.Growth.Multiplier == 2 && b.Jitter.Kind == JitterEqual && b.Jitter.FirstStill &&
				math.Abs(b.Initial.Value-100) < 5
		}},
		{"avast: a constant added", drawn(20, 9, 2, func(r *rand.Rand, k int) float64 { return 0.1*math.Exp2(float64(k)) + within(r, 0, 0.1) }), func(b Backoff) bool {
			return b.Growth.Multiplier == 2 && b.Jitter.Kind == JitterAdditive && math.Abs(b.Jitter.Added-100) < 5 && b.Initial.Value == 100
		}},
		{"cenkalti: fifty per cent, to a limit", drawn(20, 24, 3, func(r *rand.Rand, k int) float64 {
			return min(60, 0.5*math.Pow(1.5, float64(k))) * within(r, 0.5, 1.5)
		}), func(b Backoff) bool {
			return b.Growth.Multiplier == 1.5 && b.Jitter.Proportion == 0.5 && b.Initial.Value == 500 && b.Max.Value == 60_000
		}},
		{"layers: three quick attempts within a slow loop", repeated(5, 0, 0, 5*second, 0, 0, 10*second, 0, 0, 20*second, 0, 0), func(b Backoff) bool {
			l := b.Growth.Layers
			return b.Growth.Family == "layers" && l != nil && l.Attempts == 3 && l.Inner == "immediate" && l.Outer != "immediate" && l.OuterMS.Value == 5000
		}},
		{"fourth powers, ten per cent", drawn(20, 6, 4, func(r *rand.Rand, k int) float64 { return math.Pow(float64(k+1), 4) * within(r, 0.9, 1.1) }), func(b Backoff) bool {
			return b.Growth.Family == "power" && b.Growth.Exponent == 4 && b.Jitter.Proportion == 0.1
		}},
		{"squares", repeated(5, second, 4*second, 9*second, 16*second), func(b Backoff) bool { return b.Growth.Family == "quadratic" }},
		{"no family", drawn(20, 5, 5, func(r *rand.Rand, k int) float64 {
			if k == 2 && r.IntN(2) == 0 {
				return within(r, 40, 41)
			}
			return within(r, 1, 3-float64(k)/3)
		}), func(b Backoff) bool { return b.Growth.Family != "exponential" && b.Growth.Family != "linear" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if b := BackoffOf(test.calls, Options{}); !test.check(b) {
				text, _ := json.Marshal(b)
				t.Errorf("%s", text)
			}
		})
	}
}

// Webhook schedules are lists, by name where one is published, whether their waits vary or not, and never a factor.
func TestSchedules(t *testing.T) {
	ten := []float64{10, 60, 600, 3600, 18_000, 86_400}
	for _, test := range []struct {
		name     string
		schedule []float64
		spread   float64
		calls    int
		named    string
	}{
		{"Standard Webhooks, one delivery", []float64{5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400}, 0, 1, "Standard Webhooks"},
		{"its first six waits", []float64{5, 300, 1800, 7200, 18_000, 36_000}, 0, 3, "Standard Webhooks, Svix"},
		{"a tenth of jitter", []float64{5, 300, 1800, 7200, 18_000, 36_000, 36_000}, 0.1, 10, "Svix"},
		{"a list of one's own", ten, 0, 2, ""},
		{"with jitter", ten, 0.1, 10, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls := drawn(test.calls, len(test.schedule), 1, func(r *rand.Rand, k int) float64 {
				return test.schedule[k] * within(r, 1-test.spread, 1+test.spread)
			})
			g := BackoffOf(calls, Options{}).Growth
			if g.Family != "list" || strings.Join(g.Named, ", ") != test.named || len(g.Schedule) != len(test.schedule) {
				t.Fatalf("%+v", g)
			}
			for k, want := range test.schedule {
				if math.Abs(g.Schedule[k]-want*1000) > 0.05*want*1000 {
					t.Errorf("wait %d: %v ms, want %v s", k+1, g.Schedule[k], want)
				}
			}
		})
	}
}

// Whole seconds: what is constant stays so, and waits below two seconds are not explained at all.
func TestWholeSeconds(t *testing.T) {
	log := ci
	log.tick = 1
	o := Options{Resolution: second}
	steady := truth{wait: curve(times(3.4, constant.curve), 1, 1)}
	quick := truth{wait: curve(exp(0.3, 2, 1.5), 1, 1)}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 3))
		b := BackoffOf(log.run(steady, 20, 5, r), o)
		if b.Growth.Family != "constant" || b.Jitter.Kind != JitterNone || math.Abs(b.Initial.Value-3400) > 700 {
			t.Errorf("a constant wait of 3.4 s: %+v, %+v, %+v", b.Growth, b.Jitter, b.Initial)
		}
		b = BackoffOf(log.run(quick, 20, 5, r), o)
		if b.Growth.Decided || b.Jitter.Decided || !strings.Contains(b.Growth.Needs, "rounded to 1s") {
			t.Errorf("waits below 2 s: %+v, %+v", b.Growth, b.Jitter)
		}
	}
}

// Accuracy at whole seconds, by base.
func TestAccuracyOfLogs(t *testing.T) {
	for _, test := range []struct{ scale, least float64 }{{20, 0.88}, {100, 0.95}} {
		log := ci.scaled(test.scale)
		log.tick = 1
		got, wrong := score(log, Options{Resolution: second}, 20, 5, trials(5), 2)
		t.Logf("delays x%v: %.1f %%\n%s", test.scale, got*100, wrong)
		if got < test.least {
			t.Errorf("delays x%v: %.1f %% right, want %.0f\n%s", test.scale, got*100, test.least*100, wrong)
		}
	}
}

// Nothing that can be in a history makes it panic or leave the numbers.
func FuzzBackoffOf(f *testing.F) {
	f.Add([]byte{1, 2, 3, 0, 5, 250, 0, 9}, int64(0))
	f.Add([]byte{0, 0, 0, 0}, int64(second))
	f.Add([]byte{255, 255, 255, 128, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7}, int64(5))
	f.Fuzz(func(t *testing.T, data []byte, tick int64) {
		calls := [][]time.Duration{nil}
		for i, b := range data {
			switch {
			case b == 0:
				calls = append(calls, nil)
			default:
				last := len(calls) - 1
				calls[last] = append(calls[last], time.Duration(int64(b)-20)<<(uint(i*7+int(b))%54))
			}
		}
		b := BackoffOf(calls, Options{Resolution: time.Duration(max(0, tick))})
		if _, err := json.Marshal(b); err != nil {
			t.Fatal(err)
		}
		if b.Growth.Family == "" || b.Jitter.Kind == "" || b.Growth.Confidence < 0 || b.Growth.Confidence > 1 {
			t.Errorf("%+v", b)
		}
	})
}

// Waits that a very busy machine could have made out of none are not called none where the shortest shows that it did not.
func TestWaitsOnABusyMachineAreNotNone(t *testing.T) {
	late := Options{Lateness: 500 * time.Millisecond, Stall: 2 * second}
	r := rand.New(rand.NewPCG(4, 4))
	noisy := func(waits ...float64) [][]time.Duration {
		all := repeated(10, make([]time.Duration, len(waits))...)
		for i := range all {
			all[i] = slices.Clone(all[i])
			for k, w := range waits {
				all[i][k] = time.Duration((w + 0.5*r.ExpFloat64()) * 1e9)
			}
		}
		return all
	}
	if b := BackoffOf(noisy(1, 2, 3), late); b.Growth.Family == immediate.Name {
		t.Errorf("waits of 1, 2 and 3 s: %+v", b.Growth)
	}
	if b := BackoffOf(noisy(0, 0, 0), late); b.Growth.Family != immediate.Name {
		t.Errorf("no waits: %+v", b.Growth)
	}
}
