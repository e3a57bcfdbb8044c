package infer

import (
	"math"
	"time"
)

// Trend is how the mean wait changes over the first retries, and how sure that is.
type Trend struct {
	Gaps  int     // retries that it covers
	Calls int     // calls that made all of them
	Slope float64 // of ln(mean wait) per retry: 0 constant, 0.69 doubling
	Error float64 // its standard error, cautious where there are few waits
	Upper float64 // the steepest slope that the waits leave open, but for cases as rare as asked; +Inf where a call is alone
	Lever float64 // change of the slope when all waits are off by 1 %, in hundredths and in the least favourable directions
}

// Factor is by how much the mean wait grows per retry.
func (t Trend) Factor() float64 { return math.Exp(t.Slope) }

// TrendOf fits the waits, a list for each retry; none may be empty. Lateness is how much of a wait the machine may have
// added: it makes short early waits look long and hides growth (20 ms doubled can be seen as 36 and 46), so it is taken
// off the earlier half. With 0 the trend is as seen; otherwise it is the steepest that is still possible, +Inf if any is.
// Alpha is the share of cases (below 0.5) in which the true slope may lie above Upper.
func TrendOf(waits [][]time.Duration, lateness time.Duration, alpha float64) Trend {
	t := Trend{Gaps: len(waits), Calls: fewest(waits)}
	var cautious, own, shared, even float64
	freedom := 0
	for k, gaps := range waits {
		weight, n := weightOf(k, len(waits)), float64(len(gaps))
		seen, scatter := moments(gaps)
		left := seen
		if weight < 0 {
			left -= float64(lateness)
		}
		if left <= 0 {
			t.Slope = math.Inf(1)
		} else {
			t.Slope += weight * math.Log(left)
		}
		t.Lever += math.Abs(weight)
		// A few waits say little about how far waits scatter, so one more is added that scatters as full jitter does (1/3).
		cautious += weight * weight * (scatter/(seen*seen) + 1.0/3) / (n * n)
		if n > 1 && left > 0 {
			own += weight * weight * scatter / (left * left) / ((n - 1) * n)
			shared += scatter / (left * left)
		}
		even += weight * weight / n
		freedom += len(gaps) - 1
	}
	t.Error = math.Sqrt(cautious)
	t.Upper = math.Inf(1)
	if freedom > 0 {
		// Jitter scatters the waits of all retries alike, in proportion, so that their scatter may be pooled; where it does
		// not, what counts is that of the retries that weigh most.
		skew := 1 + 4/float64(t.Calls*t.Calls) // simulated: the logarithm of a mean of few waits has a longer tail
		t.Upper = t.Slope + skew*studentQuantile(freedom, alpha)*math.Sqrt(max(own, even*shared/float64(freedom)))
	}
	return t
}

// SlopeOf is the slope of the logarithm of means, as TrendOf fits it.
func SlopeOf(means []float64) float64 {
	slope := 0.0
	for k, m := range means {
		slope += weightOf(k, len(means)) * math.Log(m)
	}
	return slope
}

// weightOf is the weight of the k-th of n values in the slope of their least-squares line.
func weightOf(k, n int) float64 {
	middle := float64(n-1) / 2
	return (float64(k) - middle) * 12 / float64(n*(n*n-1))
}

// moments gives the mean and the sum of the squared distances from it.
func moments(gaps []time.Duration) (mean, squares float64) {
	for _, g := range gaps {
		mean += float64(max(g, time.Microsecond))
	}
	mean /= float64(len(gaps))
	for _, g := range gaps {
		d := float64(max(g, time.Microsecond)) - mean
		squares += d * d
	}
	return mean, squares
}

// studentQuantile is what a value of Student's t with so many degrees of freedom exceeds in a share alpha of all cases: for 1 in
// 10,000 it is 3.72 for many, 5.2 for 12. The expansion is Fisher and Cornish's (Abramowitz and Stegun 26.7.5); it is right
// to 2 % from 10 on.
func studentQuantile(freedom int, alpha float64) float64 {
	z := math.Sqrt2 * math.Erfcinv(2*alpha)
	n, z2 := float64(freedom), z*z
	g1 := z * (z2 + 1) / 4
	g2 := z * ((5*z2+16)*z2 + 3) / 96
	g3 := z * (((3*z2+19)*z2+17)*z2 - 15) / 384
	g4 := z * ((((79*z2+776)*z2+1482)*z2-1920)*z2 - 945) / 92160
	return z + (g1+(g2+(g3+g4/n)/n)/n)/n
}

func fewest(by [][]time.Duration) int {
	n := len(by[0])
	for _, gaps := range by {
		n = min(n, len(gaps))
	}
	return n
}
