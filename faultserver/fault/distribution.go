package fault

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

// distribution is a way in which delays vary.
type distribution interface {
	draw(r *rand.Rand) time.Duration
}

// Uniform has every delay from Min to Max alike.
type Uniform struct {
	Min time.Duration `yaml:"min" doc:"the shortest delay; default 0s"`
	Max time.Duration `yaml:"max" doc:"the longest delay"`
}

func (u *Uniform) draw(r *rand.Rand) time.Duration {
	return duration(float64(u.Min) + r.Float64()*float64(u.Max-u.Min))
}

// Validate wants a range.
func (u *Uniform) Validate(n strict.Node) {
	strict.AtLeast(n, "min", u.Min, 0)
	if u.Max <= u.Min {
		n.At("max").Fail("max %v is not above min %v; for one delay, use fixed", u.Max, u.Min)
	}
}

// Normal is the bell curve, cut off at 0.
type Normal struct {
	Mean   time.Duration `yaml:"mean" doc:"the middle of all delays"`
	Stddev time.Duration `yaml:"stddev" doc:"standard deviation: two of three delays are no further from the mean"`
}

func (g *Normal) draw(r *rand.Rand) time.Duration {
	return duration(float64(g.Mean) + r.NormFloat64()*float64(g.Stddev))
}

// Validate wants a width.
func (g *Normal) Validate(n strict.Node) {
	strict.AtLeast(n, "mean", g.Mean, 0)
	strict.Above(n, "stddev", g.Stddev, 0)
}

// Lognormal is how most services answer: near the median, with a long tail.
type Lognormal struct {
	Median time.Duration `yaml:"median" doc:"half of all delays are shorter"`
	Sigma  float64       `yaml:"sigma" doc:"standard deviation of the delay's logarithm; 0.5 puts one in a hundred above 3.2 medians"`
}

func (l *Lognormal) draw(r *rand.Rand) time.Duration {
	return duration(float64(l.Median) * math.Exp(l.Sigma*r.NormFloat64()))
}

// Validate wants a median and a width.
func (l *Lognormal) Validate(n strict.Node) {
	strict.Above(n, "median", l.Median, 0)
	strict.Above(n, "sigma", l.Sigma, 0)
}

// Pareto is heavy in the tail: never below Scale, and the smaller Shape, the more often far above.
type Pareto struct {
	Scale time.Duration `yaml:"scale" doc:"the shortest delay"`
	Shape float64       `yaml:"shape" doc:"how thin the tail is; 1.5 puts one in a hundred above 21 scales"`
}

func (p *Pareto) draw(r *rand.Rand) time.Duration {
	return duration(float64(p.Scale) * math.Pow(1-r.Float64(), -1/p.Shape))
}

// Validate wants a least delay and a tail.
func (p *Pareto) Validate(n strict.Node) {
	strict.Above(n, "scale", p.Scale, 0)
	strict.Above(n, "shape", p.Shape, 0)
}

// duration keeps what was drawn inside what a Duration can hold.
func duration(ns float64) time.Duration {
	switch {
	case !(ns > 0): // also not a number
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	}
	return time.Duration(ns)
}
