package clients

import "time"

func init() {
	p := polite()
	p.wait = between(geometric(500*time.Millisecond, 1.5), 0.5, 1.5)
	register(Client{
		Name:    "polite-slow-growth",
		Summary: "grows by 1.5 from 0.5 s, each wait within 50 %, as resilience4j randomizes",
		Call:    p.call,
	})
}
