package infer

var linear = shape("linear", "each wait is longer by the same time: 1, 2, 3, 4", lessUsual,
	func(retry int) float64 { return float64(retry + 1) })
