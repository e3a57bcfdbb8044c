package clients

import "time"

func init() {
	p := polite()
	p.wait = between(exponential(time.Second, 8*time.Second), 0.8, 1.2)
	register(Client{
		Name:    "polite-proportional-jitter",
		Summary: "each wait within 20 % of the curve, as gRPC connections do",
		Call:    p.call,
	})
}
