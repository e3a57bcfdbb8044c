package infer

import "math"

// estimate fills in the times of the likeliest fit.
func (b *Backoff) estimate(j judgement) {
	f := j.best
	if f.family == irregular || f.family == layers {
		return
	}
	if f.family == immediate {
		b.Initial = &Range{}
		return
	}
	width, n := f.top-f.low, float64(len(j.gaps))
	switch f.class() {
	case JitterProportional:
		b.Jitter.Proportion = j.proportion()
	case JitterAdditive:
		b.Jitter.Added = ms(roundBetween(width, width, width*(1+5/n)))
	}
	if f.family == list {
		return
	}
	initial := j.initial()
	if b.Jitter.Kind == Undecided {
		initial.Low = min(initial.Low, f.low)
	}
	scale := 1.0
	if f.steady > 0 && f.multiplier > 0 { // the curve began one retry earlier
		scale = 1 / f.multiplier
	}
	b.Initial = &Range{ms(scale * initial.Value), ms(scale * initial.Low), ms(scale * initial.High)}
	b.From, b.To = ms(scale*f.low), ms(scale*f.top)
	if f.limit > 0 {
		unit := initial.Value
		if f.kind == JitterDecorrelated {
			unit = f.low
		}
		limit := f.limit * unit
		b.Max = &Range{ms(roundBetween(limit, limit*0.98, limit*1.03)), ms(limit * 0.97), ms(limit * 1.04)}
	}
}

// initial estimates the first wait without jitter, in seconds. The longest wait that was drawn lies a little below the
// longest that could have been: one part in as many as there are waits.
func (j judgement) initial() Range {
	f, n := j.best, float64(len(j.gaps))
	width := f.top - f.low
	slack := 2 * j.noise.mean * j.clocks[0]
	if j.noise.tick > 0 {
		slack = j.noise.tick
	}
	switch middle := f.middleOf(); f.class() {
	case JitterNone:
		return between(middle, middle-slack, middle+slack/2)
	case JitterFull, JitterEqual:
		return between(f.top*(1+1/n), f.top-slack, f.top+3*width/n)
	case JitterAdditive:
		return between(f.low, f.low-3*width/n-slack/2, f.low+slack/4)
	case JitterDecorrelated:
		return between(f.low, f.low*0.93-slack/2, f.low)
	default:
		out := 3*width/n + slack/2
		return between(middle, middle-out, middle+out)
	}
}

// between is an estimate, rounded to what people write as far as its bounds allow.
func between(value, low, high float64) Range {
	low = max(0, low)
	return Range{roundBetween(value, low, high), low, high}
}

// proportion of proportional jitter: the ratio of the ends gives it, whatever the middle. More waits can only widen it.
func (j judgement) proportion() float64 {
	f := j.best
	x := (f.top - f.low) / (f.top + f.low)
	return roundBetween(x, x*0.995, min(1, x*(1+5/float64(len(j.gaps)))+0.002))
}

// roundBetween finds the value with the fewest digits between the bounds, and of those the nearest to the estimate: people
// choose round numbers.
func roundBetween(value, low, high float64) float64 {
	if value <= 0 || high <= low {
		return value
	}
	unit := math.Pow(10, math.Floor(math.Log10(value)))
	for _, step := range [...]float64{unit, unit / 2, unit / 4, unit / 10, unit / 20, unit / 100, unit / 1000} {
		steps := value / step
		for _, n := range [...]float64{math.Round(steps), math.Floor(steps), math.Ceil(steps)} {
			if near := round(n*step, 1e9); near >= low && near <= high && near > 0 {
				return near
			}
		}
	}
	return value
}

// roundSchedule rounds each wait of a list to the time that people would write, where the waits leave it open.
func (j judgement) roundSchedule(waits []float64) []float64 {
	rounded := make([]float64, len(waits))
	for k, w := range waits {
		slack := j.slack(w, j.clocks[min(k, len(j.clocks)-1)])
		if top := j.best.top; j.best.kind != JitterNone && top > 0 {
			slack += 2 * w * (top - j.best.low) / top / float64(len(j.by[k])+1)
		}
		rounded[k], _ = roundTime(w, slack)
	}
	return rounded
}

// Wait is the wait before a retry (from 1) without jitter, in milliseconds; ok is false where no family is decided on.
func (b Backoff) Wait(retry int) (wait float64, ok bool) {
	g := b.Growth
	family, err := Families.Get(g.Family)
	switch {
	case err != nil || retry < 1:
		return 0, false
	case len(g.Schedule) > 0:
		return g.Schedule[min(retry, len(g.Schedule))-1], true
	case b.Initial == nil:
		return 0, false
	case g.FirstZero:
		if retry--; retry == 0 {
			return 0, true
		}
	}
	wait = b.Initial.Value
	switch {
	case g.Multiplier > 0:
		wait *= math.Pow(g.Multiplier, float64(retry-1))
	case g.Exponent > 0:
		wait *= math.Pow(float64(retry), float64(g.Exponent))
	case family.curve != nil:
		wait *= family.curve(retry - 1)
	default:
		return 0, false
	}
	if b.Max != nil {
		wait = min(wait, b.Max.Value)
	}
	return wait, true
}
