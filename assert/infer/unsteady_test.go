package infer

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Waits that lie far apart are not said to be without jitter because the machine could have drawn them apart; steady ones are,
// also on a machine that is busy.
func TestLatenessDoesNotHideJitter(t *testing.T) {
	doubled := truth{wait: curve(exp(0.5, 2, inf), 1, 2)} // as backon's, up to as much again
	steady := truth{wait: curve(exp(0.5, 2, inf), 1, 1)}
	for _, test := range []struct {
		name        string
		client      truth
		o           Options
		least, most int // of 100 said to be without jitter
	}{
		{"jitter, very late", doubled, Options{Lateness: 80 * time.Millisecond, Stall: 500 * time.Millisecond}, 0, 6},
		{"jitter, late", doubled, Options{Lateness: 20 * time.Millisecond, Stall: 500 * time.Millisecond}, 0, 2},
		{"none, very late", steady, Options{Lateness: 80 * time.Millisecond, Stall: 500 * time.Millisecond}, 90, 100},
		{"none, quiet", steady, Options{Lateness: 3 * time.Millisecond, Stall: 10 * time.Millisecond}, 90, 100},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, none := rand.New(rand.NewPCG(1, 2)), 0
			for range 100 {
				if b := BackoffOf(ci.run(test.client, 4, 3, r), test.o); b.Jitter.Kind == JitterNone {
					none++
				}
			}
			if none < test.least || none > test.most {
				t.Errorf("%d of 100 are said to be without jitter, want %d to %d", none, test.least, test.most)
			}
		})
	}
}

// Waits that are drawn between nothing and some seconds do not pass for none because the machine was late by nearly as much.
func TestLatenessDoesNotHideWaits(t *testing.T) {
	late := Options{Lateness: 500 * time.Millisecond, Stall: 2 * second}
	calls := [][]time.Duration{}
	for _, waits := range [][]float64{{158, 419, 2844}, {633, 1421, 2627}, {958, 482, 3749}, {366, 1306, 1951}} { // up to 1, 2 and 4 s
		var call []time.Duration
		for _, ms := range waits {
			call = append(call, time.Duration(ms*1e6))
		}
		calls = append(calls, call)
	}
	if b := BackoffOf(calls, late); b.Growth.Family != Undecided || b.Jitter.Kind != Undecided {
		t.Errorf("%+v, %+v", b.Growth, b.Jitter)
	}
}
