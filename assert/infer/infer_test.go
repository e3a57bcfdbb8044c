package infer_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
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

func TestIsRetry(t *testing.T) {
	for _, test := range []struct {
		name       string
		prev, next journal.Entry
		want       bool
	}{
		{"a 503 again", journal.Entry{Status: 503}, journal.Entry{}, true},
		{"after a broken connection", journal.Entry{Cut: true}, journal.Entry{}, true},
		{"a redirect is followed", journal.Entry{Status: 307}, journal.Entry{}, false},
		{"unless it was cut off", journal.Entry{Status: 307, Cut: true}, journal.Entry{}, true},
		{"a challenge is answered", journal.Entry{Status: 401, Auth: 1}, journal.Entry{Auth: 2}, false},
		{"with the same credentials it is not", journal.Entry{Status: 401, Auth: 1}, journal.Entry{Auth: 1}, true},
		{"a proxy's challenge too", journal.Entry{Status: 407}, journal.Entry{Auth: 2}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := infer.IsRetry(&test.prev, &test.next); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestWaitsSumUpEachRetry(t *testing.T) {
	directed := history.New().Attempt(0, ms, 429).RetryAfter("9").Retries(9*s, 503, 8*s).Entries()
	followed := history.New().Attempt(0, ms, 302).Attempt(2*ms, ms, 503).Attempt(2*s+3*ms, ms, 200).Entries()
	got := infer.Waits([][]journal.Entry{call(s, 2*s), call(3 * s), directed, call(), followed})
	want := []infer.Summary{
		{Retry: 1, N: 3, Min: s, Median: 2 * s, Max: 3 * s, Mean: 2 * s},
		{Retry: 2, N: 2, Min: 2 * s, Median: 5 * s, Max: 8 * s, Mean: 5 * s},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := infer.Waits(nil); len(got) != 0 {
		t.Errorf("waits of nothing: %v", got)
	}
}

func TestTrendOfExactWaits(t *testing.T) {
	for _, test := range []struct {
		name     string
		waits    []time.Duration
		lateness time.Duration
		want     float64 // factor, to a hundredth
	}{
		{"constant", []time.Duration{s, s, s, s}, 0, 1},
		{"immediate", []time.Duration{0, 0, 0}, 0, 1},
		{"doubling (curl)", []time.Duration{s, 2 * s, 4 * s}, 0, 2},
		{"linear (wget)", []time.Duration{s, 2 * s, 3 * s, 4 * s}, 0, 1.58},
		{"shrinking", []time.Duration{4 * s, 2 * s, s}, 0, 0.5},
		{"lateness hides growth", []time.Duration{36 * ms, 46 * ms}, 0, 1.28},
		{"and is taken off", []time.Duration{36 * ms, 46 * ms}, 20 * ms, 2.88},
	} {
		t.Run(test.name, func(t *testing.T) {
			waits := make([][]time.Duration, len(test.waits))
			for k, w := range test.waits {
				waits[k] = []time.Duration{w, w, w}
			}
			got := infer.TrendOf(waits, test.lateness, 1e-4)
			if math.Abs(got.Factor()-test.want) > 0.01 || got.Gaps != len(waits) || got.Calls != 3 {
				t.Errorf("factor %.3f over %d waits of %d calls, want %.2f", got.Factor(), got.Gaps, got.Calls, test.want)
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

// simulate draws the waits of m calls before each of k retries, sorted.
func simulate(p policy, m, k int, r *rand.Rand) [][]time.Duration {
	waits := make([][]time.Duration, k)
	for j := range waits {
		for range m {
			late := noise(r)
			if r.Float64() < 0.02 {
				late += spikes(r)
			}
			waits[j] = append(waits[j], p(j+1, r)+time.Duration(late*float64(ms)))
		}
		slices.Sort(waits[j])
	}
	return waits
}

const trials = 2000

// The error that a trend states has to be the error that it makes.
func TestTrendKnowsItsError(t *testing.T) {
	for _, test := range []struct {
		name   string
		policy policy
		m, k   int
		slope  float64
	}{
		{"doubling, full jitter", exp2(200*ms, full), 20, 3, math.Ln2},
		{"doubling, full jitter, ten calls", exp2(200*ms, full), 10, 4, math.Ln2},
		{"doubling, equal jitter", exp2(200*ms, equal), 10, 4, math.Ln2},
		{"constant, full jitter", constant(500*ms, full), 20, 3, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			outside := 0
			for range trials {
				trend := infer.TrendOf(simulate(test.policy, test.m, test.k, r), 0, 1e-4)
				if math.Abs(trend.Slope-test.slope) > 3*trend.Error+0.03 { // lateness bends slopes by up to 3 %
					outside++
				}
			}
			if outside > trials/100 {
				t.Errorf("%d of %d outside three standard errors", outside, trials)
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
				for k, waits := range simulate(test.policy, 10, 3, r) {
					s := infer.SpreadOf(k+1, waits)
					still = still && s.Width <= max(25*ms, s.Median/20)
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
	waits := []time.Duration{s, s, s, s, s, s, s, s, 5 * s, 9 * s} // a slow machine stretched two of ten
	got := infer.SpreadOf(1, waits)
	if want := (infer.Spread{Retry: 1, N: 10, Median: s, Width: 0}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}
