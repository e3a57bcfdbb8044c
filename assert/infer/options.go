package infer

import "time"

// Options say how far the times can be trusted.
type Options struct {
	Lateness   time.Duration // how late the machine makes things in the mean; 0: 2 ms, as on loopback
	Stall      time.Duration // how late it makes one thing in a hundred; 0: not known
	Resolution time.Duration // what times are rounded down to, as in access logs; 0: not at all

	// Clocks are how many times faster than the machine's the clock ran that showed the waits before each retry, which makes
	// whatever is late so much later there. Where there is none, it ran as fast.
	Clocks []float64
}

// clock is how many times faster than the machine's the clock ran before a retry.
func (o Options) clock(retry int) float64 {
	if retry < len(o.Clocks) {
		return max(1, o.Clocks[retry])
	}
	return 1
}

// on is o for waits that the faster of these clocks showed.
func (o Options) on(clocks ...[]float64) Options {
	o.Clocks = nil
	for _, c := range clocks {
		o.Clocks = fastest(o.Clocks, c)
	}
	return o
}
