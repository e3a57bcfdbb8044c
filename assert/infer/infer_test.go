package infer_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert/infer"
	"github.com/retrygate/retrygate/assert/internal/history"
	"github.com/retrygate/retrygate/faultserver/journal"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// call is one call with these waits between attempts that all fail.
func call(waits ...time.Duration) []journal.Entry {
	return history.New().Retries(0, 503, waits...).Entries()
}

func TestOfLeavesOutWhatIsNoRetry(t *testing.T) {
	for _, test := range []struct {
		name     string
		attempts []journal.Entry
		want     []infer.Wait
	}{
		{"one attempt", call(), []infer.Wait{}},
		{"waits run from the end of the attempt", call(s, 2*s), []infer.Wait{{1, s, false}, {2, 2 * s, false}}},
		{"a redirect shifts no index", history.New().Attempt(0, ms, 302).Retries(2*ms, 503, s).Entries(), []infer.Wait{{1, s, false}}},
		{"nor does a challenge", history.New().Auth(1).Attempt(0, ms, 401).Auth(2).Retries(2*ms, 503, s).Entries(), []infer.Wait{{1, s, false}}},
		{"the same credentials again are a retry", history.New().Auth(1).Retries(0, 401, ms).Entries(), []infer.Wait{{1, ms, false}}},
		{"directed waits are marked and counted",
			history.New().Attempt(0, ms, 429).RetryAfter("1").Retries(s, 503, 2*s).Entries(),
			[]infer.Wait{{1, 999 * ms, true}, {2, 2 * s, false}}},
		{"attempts that overlap", history.New().Left(0, 3*s).Attempt(s, ms, 200).Entries(), []infer.Wait{{1, -2 * s, false}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := infer.Of(test.attempts); !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestWaitsSumUpEachRetry(t *testing.T) {
	directed := history.New().Attempt(0, ms, 429).RetryAfter("9").Retries(9*s, 503, 8*s).Entries()
	got := infer.Waits([][]journal.Entry{call(s, 2*s), call(3 * s), directed, call()})
	want := []infer.Summary{
		{Retry: 1, N: 2, Min: s, Median: 2 * s, Max: 3 * s, Mean: 2 * s},
		{Retry: 2, N: 2, Min: 2 * s, Median: 5 * s, Max: 8 * s, Mean: 5 * s},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := infer.Waits(nil); len(got) != 0 {
		t.Errorf("waits of nothing: %v", got)
	}
}

func TestGrowthOfExactWaits(t *testing.T) {
	for _, test := range []struct {
		name  string
		waits []time.Duration
		limit time.Duration
		want  float64 // to a hundredth
	}{
		{"constant", []time.Duration{s, s, s, s}, 0, 1},
		{"immediate", []time.Duration{0, 0, 0}, 0, 1},
		{"doubling (curl)", []time.Duration{s, 2 * s, 4 * s}, 0, 2},
		{"linear (wget)", []time.Duration{s, 2 * s, 3 * s, 4 * s}, 0, 1.73},
		{"zero first (urllib3)", []time.Duration{0, s, 2 * s, 4 * s}, 0, 44.72},
		{"a cap of its own does not flatten it", []time.Duration{s, 2 * s, 4 * s, 5 * s, 5 * s, 5 * s, 5 * s, 5 * s}, 0, 2},
		{"waits at the agreed cap are left out", []time.Duration{30 * s, 60 * s, 60 * s}, 60 * s, 0},
		{"shrinking", []time.Duration{4 * s, 2 * s, s}, 0, 0.5},
		{"one wait", []time.Duration{s}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := infer.GrowthOf([][]journal.Entry{call(test.waits...)}, test.limit)
			if math.Abs(got.Factor-test.want) > 0.01 {
				t.Errorf("factor %.3f, want %.2f", got.Factor, test.want)
			}
		})
	}
}

// policy is a synthetic client: the wait before retry k with r deciding its jitter.
type policy func(k int, r *rand.Rand) time.Duration

func exp2(base time.Duration, jitter func(r *rand.Rand) float64) policy {
	return func(k int, r *rand.Rand) time.Duration {
		return time.Duration(float64(base<<(k-1)) * jitter(r))
	}
}

func constant(base time.Duration, jitter func(r *rand.Rand) float64) policy {
	return func(_ int, r *rand.Rand) time.Duration { return time.Duration(float64(base) * jitter(r)) }
}

func none(*rand.Rand) float64     { return 1 }
func full(r *rand.Rand) float64   { return r.Float64() }
func equal(r *rand.Rand) float64  { return 0.5 + r.Float64()/2 }
func tenth(r *rand.Rand) float64  { return 0.9 + r.Float64()/5 }
func fifth(r *rand.Rand) float64  { return 0.8 + r.Float64()/2.5 }
func noise(r *rand.Rand) float64  { return 0.5 + r.ExpFloat64()*2 } // milliseconds, as measured on loopback
func spikes(r *rand.Rand) float64 { return 10 + r.Float64()*90 }

// simulate makes m calls of k waits each.
func simulate(p policy, m, k int, r *rand.Rand) [][]journal.Entry {
	calls := make([][]journal.Entry, m)
	for i := range calls {
		waits := make([]time.Duration, k)
		for j := range waits {
			late := noise(r)
			if r.Float64() < 0.02 {
				late += spikes(r)
			}
			waits[j] = p(j+1, r) + time.Duration(late*float64(ms))
		}
		calls[i] = call(waits...)
	}
	return calls
}

const trials = 2000

func TestGrowthDecidesRarelyWrong(t *testing.T) {
	const threshold = 1.3
	for _, test := range []struct {
		name     string
		policy   policy
		m, k     int
		grows    bool
		mistakes int // allowed among the trials
	}{
		{"doubling, full jitter", exp2(200*ms, full), 20, 3, true, 2},
		{"doubling, full jitter, ten calls", exp2(200*ms, full), 10, 4, true, 2},
		{"doubling, equal jitter", exp2(200*ms, equal), 10, 4, true, 0},
		{"doubling, a fifth, five calls", exp2(200*ms, fifth), 5, 3, true, 0},
		{"constant, full jitter", constant(500*ms, full), 20, 3, false, 20},
		{"constant, a fifth, five calls", constant(500*ms, fifth), 5, 3, false, 0},
		{"constant", constant(500*ms, none), 5, 3, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			wrong, unsure := 0, 0
			for range trials {
				g := infer.GrowthOf(simulate(test.policy, test.m, test.k, r), time.Minute)
				switch {
				case !g.Enough():
					unsure++
				case (g.Factor >= threshold) != test.grows:
					wrong++
				}
			}
			if wrong > test.mistakes || unsure > trials/20 {
				t.Errorf("%d wrong and %d undecided of %d; at most %d may be wrong", wrong, unsure, trials, test.mistakes)
			}
		})
	}
}

func TestSpreadDecidesRarelyWrong(t *testing.T) {
	for _, test := range []struct {
		name     string
		policy   policy
		still    bool
		mistakes int
	}{
		{"doubling, no jitter", exp2(200*ms, none), true, 10},
		{"doubling, full jitter", exp2(200*ms, full), false, 0},
		{"doubling, a fifth", exp2(200*ms, fifth), false, 0},
		{"doubling, a tenth", exp2(200*ms, tenth), false, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			wrong := 0
			for range trials {
				still := true
				for _, row := range infer.Spreads(simulate(test.policy, infer.SpreadCalls, infer.SpreadGaps, r)) {
					still = still && row.Still(25*ms)
				}
				if still != test.still {
					wrong++
				}
			}
			if wrong > test.mistakes {
				t.Errorf("%d wrong of %d; at most %d may be", wrong, trials, test.mistakes)
			}
		})
	}
}

func TestSpreadDropsTheLongest(t *testing.T) {
	calls := make([][]journal.Entry, 10)
	for i := range calls {
		calls[i] = call(s)
	}
	calls[3], calls[7] = call(5*s), call(9*s) // a slow machine stretched two of ten
	got := infer.Spreads(calls)
	if want := []infer.Spread{{Retry: 1, N: 10, Median: s, Width: 0}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
