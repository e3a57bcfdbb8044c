package driver

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
)

func TestCanaryCoversEvenAShortRun(t *testing.T) {
	canary := NewCanary()
	leave, err := canary.join()
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	noise := canary.noise(t.Context(), time.Now(), time.Microsecond)
	if len(noise.Slices) != 1 || noise.Slices[0].Samples == 0 {
		t.Errorf("%+v", noise)
	}
}

func TestCanaryLivesWhileItIsNeeded(t *testing.T) {
	canary, began := NewCanary(), time.Now()
	for round := range 2 {
		first, err1 := canary.join()
		second, err2 := canary.join()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		first()
		first()
		canary.noise(t.Context(), time.Now(), 0) // would wait for ever if it were gone
		second()
		if canary.users != 0 || len(canary.samples) <= round {
			t.Errorf("round %d: %d users, %d samples", round, canary.users, len(canary.samples))
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if noise := canary.noise(ended, began, time.Hour); len(noise.Slices) == 0 {
		t.Error("what it saw is gone")
	}
}

func TestNoiseIsCutToTheRunsClock(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(due, late time.Duration) sample { return sample{began.Add(due - beat), began.Add(due), late} }
	slice := func(from, p50, p99, most time.Duration, n int) assert.Slice {
		return assert.Slice{From: from, P50: p50, P99: p99, Max: most, Samples: n}
	}
	const ms, s = time.Millisecond, time.Second
	for _, c := range []struct {
		name    string
		samples []sample
		lasted  time.Duration
		want    []assert.Slice
	}{
		{"nothing", nil, s, nil},
		{"before and after", []sample{at(-s, ms), at(2*s, ms)}, s, nil},
		{"one slice", []sample{at(100*ms, 3*ms), at(200*ms, ms), at(300*ms, 2*ms)}, s, []assert.Slice{slice(0, 2*ms, 3*ms, 3*ms, 3)}},
		{"between two requests", []sample{at(40*ms, ms)}, 10 * ms, []assert.Slice{slice(0, ms, ms, ms, 1)}},
		{"on its way at the start", []sample{at(-10*ms, 15*ms)}, s, []assert.Slice{slice(0, 15*ms, 15*ms, 15*ms, 1)}},
		{"two slices", []sample{at(s, ms), at(6*s, 2*ms)}, 7 * s, []assert.Slice{slice(0, ms, ms, ms, 1), slice(5*s, 2*ms, 2*ms, 2*ms, 1)}},
		{"a stall bends all that it covers", []sample{at(s, ms), at(4*s, 7*s)}, 12 * s,
			[]assert.Slice{slice(0, ms, 7*s, 7*s, 2), slice(5*s, 7*s, 7*s, 7*s, 1), slice(10*s, 7*s, 7*s, 7*s, 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cut(c.samples, began, c.lasted).Slices; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		list    []time.Duration
		percent int
		want    time.Duration
	}{
		{hundred, 50, 50}, {hundred, 99, 99}, {hundred[:1], 50, 1}, {hundred[:1], 99, 1}, {hundred[:3], 50, 2}, {hundred[:3], 99, 3},
	} {
		if got := quantile(c.list, c.percent); got != c.want {
			t.Errorf("%d%% of %d is %d, want %d", c.percent, len(c.list), got, c.want)
		}
	}
}
