package infer

var _ = shape("fibonacci", "each wait is the sum of the two before, from 1 and 2: 1, 2, 3, 5", rareFamily,
	func(retry int) float64 { return fibonacci(retry + 1) })

var _ = shape("fibonacci from 1, 1", "each wait is the sum of the two before, from 1 and 1: 1, 1, 2, 3", rareFamily,
	fibonacci)

func fibonacci(n int) float64 {
	a, b := 1.0, 1.0
	for range n {
		a, b = b, a+b
	}
	return a
}
