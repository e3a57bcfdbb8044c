package infer

import "math"

var _ = shape("2^k-1", "one less than a power of two: 1, 3, 7, 15", rarest,
	func(retry int) float64 { return math.Exp2(float64(retry+1)) - 1 })
