package infer

import "math"

var _ = shape("quadratic", "waits grow with the square of the retry: 1, 4, 9, 16", rareFamily,
	func(retry int) float64 { return float64((retry + 1) * (retry + 1)) })

var _ = shape("quadratic plus one", "one more than the square of the retries made: 1, 2, 5, 10", rarest,
	func(retry int) float64 { return float64(1 + retry*retry) })

// power is rarer: cubes, and fourth powers as some senders of webhooks use them.
var power = register(Family{Name: "power", Summary: "waits grow with a higher power of the retry: 1, 8, 27 or 1, 16, 81", rank: rarest})

func init() {
	power.fits = func(s *sample) (fits []fit) {
		for _, e := range [...]int{3, 4} {
			base := fit{family: power, exponent: e, params: 1}
			fits = append(fits, s.drawn(base, func(retry int) float64 { return math.Pow(float64(retry+1), float64(e)) }, true)...)
		}
		return fits
	}
}
