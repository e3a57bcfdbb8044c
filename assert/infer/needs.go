package infer

import (
	"fmt"
	"math"
)

// identified is how many waits in a call tell the common families apart.
const identified = 4

// growthNeeds says what would tell the remaining families apart.
func (j judgement) growthNeeds(g Growth) string {
	n := j.retries()
	if len(g.Candidates) > 1 && n >= leastNamed {
		if k := j.parting(g.Candidates[0].Name, g.Candidates[1].Name); k > n {
			return fmt.Sprintf("%s in a call would tell %s from %s", plural(k-n, "more retry", "more retries"), g.Candidates[0].Name, g.Candidates[1].Name)
		}
		return plural(j.moreCalls(g.Candidates[1].Distance-g.Candidates[0].Distance), "more call", "more calls") + " would decide"
	}
	if n < identified {
		return plural(identified-n, "more retry", "more retries") + " in a call would tell the common families apart"
	}
	return "more calls may show a pattern"
}

// parting is the first retry at which the curves of two families differ; 0 where they do so before, or have no one shape.
func (j judgement) parting(a, b string) int {
	x, y := j.fitOf(a), j.fitOf(b)
	if x == nil || y == nil || x.at == nil || y.at == nil || x.limit > 0 || y.limit > 0 || x.kind != JitterNone {
		return 0
	}
	for k := range 2 * mostRetries {
		p, q := x.low*x.at(k), y.low*y.at(k)
		if math.Abs(p-q) > 0.1*min(p, q)+4*j.noise.mean {
			return k + 1
		}
	}
	return 0
}

func (j judgement) fitOf(family string) *fit {
	for i := range j.fits {
		if j.fits[i].family.Name == family {
			return &j.fits[i]
		}
	}
	return nil
}

// moreCalls estimates how many calls more make a distance clear: it grows with the waits.
func (j judgement) moreCalls(distance float64) int {
	if distance <= 0.2 {
		distance = 0.2
	}
	more := math.Ceil(float64(j.calls)*clearly/distance) - float64(j.calls)
	return int(min(max(more, 1), mostAsked))
}

// mostAsked bounds what is asked for: by then it is as good as never.
const mostAsked = 100

// wantedCalls is how many calls of three retries or more decide about jitter.
const wantedCalls = 10

func (j judgement) jitterNeeds() string {
	more := wantedCalls - j.calls
	if more < 1 {
		more = max(1, j.calls/2)
	}
	return plural(more, "more call", "more calls") + " would tell"
}

func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
