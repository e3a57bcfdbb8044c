package infer

var constant = register(Family{
	Name: "constant", Summary: "every wait is drawn alike: 1, 1, 1, 1",
	curve: func(int) float64 { return 1 },
})

func init() {
	constant.fits = func(s *sample) []fit {
		return s.spreads(fit{family: constant, curve: curveOf(s.retries(), 0, constant.curve)})
	}
}
