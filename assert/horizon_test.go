package assert_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/retrygate/retrygate/assert"
	"github.com/retrygate/retrygate/faultserver/journal"
)

// sendings are requests for one path each, numbered from a number, which fail and come again after the waits, all of them stretched a little.
func sendings(from, paths int, apart time.Duration, waits ...time.Duration) (all []journal.Entry) {
	for p := from; p < from+paths; p++ {
		at := time.Duration(p) * apart
		for k := range len(waits) + 1 {
			all = append(all, journal.Entry{At: at, Client: "sender", Method: "POST", Path: fmt.Sprint("/hook/", p), BodyWhole: true, Status: 500})
			if k < len(waits) {
				at += waits[k] + waits[k]*time.Duration(p%5)/10
			}
		}
	}
	return all
}

func TestSeenHorizon(t *testing.T) {
	const m, h = time.Minute, time.Hour
	for name, row := range map[string]struct {
		entries []journal.Entry
		want    time.Duration // at least; 0: none
	}{
		"a schedule of webhooks":         {sendings(0, 20, h, 5*time.Second, 5*m, 30*m, 2*h, 5*h, 10*h), 10 * h},
		"begins with a long wait":        {sendings(0, 20, h, 10*m, h, 6*h), 6 * h},
		"begins at once":                 {sendings(0, 20, h, 0, 10*m, h), h},
		"too few":                        {sendings(0, 4, h, 5*time.Second, 5*m, 30*m), 0},
		"the same every hour":            {sendings(0, 20, m, h, h, h, h), 0},
		"one wait tells of no growth":    {sendings(0, 20, h, 5*m), 0},
		"each at times of its own":       {slices.Concat(sendings(0, 5, h, m, 7*h), sendings(5, 5, h, 3*h, m), sendings(10, 5, h, 9*m, 9*m)), 0},
		"nothing came again":             {sendings(0, 50, m), 0},
		"agrees for two waits, not more": {append(sendings(0, 9, 24*h, m, 10*m), sendings(9, 3, 24*h, m, 10*m, 9*h)...), 10 * m},
	} {
		slices.SortStableFunc(row.entries, func(a, b journal.Entry) int { return cmp.Compare(a.At, b.At) })
		got := assert.SeenHorizon(row.entries, assert.Strict().Responses)
		if got < row.want || row.want == 0 && got != 0 || got > 3*row.want {
			t.Errorf("%s: %v, want %v", name, got, row.want)
		}
	}
}
