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
	Error float64 // its standard error
}

// Factor is by how much the mean wait grows per retry.
func (t Trend) Factor() float64 { return math.Exp(t.Slope) }

// TrendOf fits the waits, a list for each retry; none may be empty. Lateness is how much of a wait the machine may have
// added: it makes short early waits look long and hides growth (20 ms doubled can be seen as 36 and 46), so it is taken
// off the earlier half. With 0 the trend is as seen; otherwise it is the steepest that is still possible, +Inf if any is.
func TrendOf(waits [][]time.Duration, lateness time.Duration) Trend {
	n := len(waits)
	middle := float64(n-1) / 2
	var square, slope, variance float64
	for k := range waits {
		square += (float64(k) - middle) * (float64(k) - middle)
	}
	for k, gaps := range waits {
		weight := (float64(k) - middle) / square
		m, cv2 := moments(gaps)
		if weight < 0 {
			m -= float64(lateness)
		}
		if m <= 0 {
			slope = math.Inf(1)
		} else {
			slope += weight * math.Log(m)
		}
		variance += weight * weight * cv2 / float64(len(gaps))
	}
	return Trend{n, fewest(waits), slope, math.Sqrt(variance)}
}

// moments gives the mean, and the squared coefficient of variation. A few waits say little about how far waits scatter, so
// one more is added that scatters as full jitter does (1/3).
func moments(gaps []time.Duration) (mean, cv2 float64) {
	var sum, squares float64
	for _, g := range gaps {
		sum += float64(max(g, time.Microsecond))
	}
	mean = sum / float64(len(gaps))
	for _, g := range gaps {
		d := float64(max(g, time.Microsecond)) - mean
		squares += d * d
	}
	return mean, (squares/(mean*mean) + 1.0/3) / float64(len(gaps))
}

func fewest(by [][]time.Duration) int {
	n := len(by[0])
	for _, gaps := range by {
		n = min(n, len(gaps))
	}
	return n
}
