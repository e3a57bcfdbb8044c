package driver

import (
	"reflect"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
)

func TestNoiseIsCutToTheRunsClock(t *testing.T) {
	began := time.Unix(1000, 0)
	at := func(due, late time.Duration) sample { return sample{began.Add(due - beat), began.Add(due), late} }
	slice := func(from, p50, p99, most time.Duration, n int) assert.Slice {
		return assert.Slice{From: from, P50: p50, P99: p99, Max: most, Samples: n}
	}
	stood := func(s assert.Slice, share float64) assert.Slice { s.Stood = share; return s }
	const ms, s = time.Millisecond, time.Second
	for _, c := range []struct {
		name    string
		samples []sample
		lasted  time.Duration
		want    []assert.Slice
	}{
		{"nothing", nil, s, nil},
		{"before and after", []sample{at(-s, ms), at(2*s, ms)}, s, nil},
		{"one slice", []sample{at(100*ms, 3*ms), at(200*ms, ms), at(300*ms, 2*ms)}, s, []assert.Slice{slice(0, 2*ms, 2980*time.Microsecond, 3*ms, 3)}},
		{"between two requests", []sample{at(40*ms, ms)}, 10 * ms, []assert.Slice{slice(0, ms, ms, ms, 1)}},
		{"on its way at the start", []sample{at(-10*ms, 15*ms)}, s, []assert.Slice{slice(0, 15*ms, 15*ms, 15*ms, 1)}},
		{"two slices", []sample{at(s, ms), at(6*s, 2*ms)}, 7 * s, []assert.Slice{slice(0, ms, ms, ms, 1), slice(5*s, 2*ms, 2*ms, 2*ms, 1)}},
		{"a stall bends all that it covers", []sample{at(s, ms), at(4*s, 7*s)}, 12 * s,
			[]assert.Slice{stood(slice(0, 3500500*time.Microsecond, 6930010*time.Microsecond, 7*s, 2), 7000.0/7101), stood(slice(5*s, 7*s, 7*s, 7*s, 1), 7000.0/7050), stood(slice(10*s, 7*s, 7*s, 7*s, 1), 7000.0/7050)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := cut(c.samples, began, c.lasted, sliceSpan, stallSpan).Slices; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestQuantile(t *testing.T) {
	list := make([]time.Duration, 101)
	for i := range list {
		list[i] = time.Duration(1000 * i)
	}
	for _, c := range []struct {
		list    []time.Duration
		percent int
		want    time.Duration
	}{
		{list, 50, 50_000}, {list, 99, 99_000}, {list[:98], 99, 96_030}, {list[:1], 50, 0}, {list[:1], 99, 0},
		{list[:2], 50, 500}, {list[:2], 99, 990}, {list[:3], 50, 1000},
	} {
		if got := quantile(c.list, c.percent); got != c.want {
			t.Errorf("%d%% of %d is %d, want %d", c.percent, len(c.list), got, c.want)
		}
	}
}
