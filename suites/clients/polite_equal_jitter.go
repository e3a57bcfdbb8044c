package clients

import "time"

func init() {
	p := polite()
	p.wait = between(exponential(time.Second, 8*time.Second), 0.5, 1)
	register(Client{
		Name:    "polite-equal-jitter",
		Summary: "each wait drawn from U(d/2, d)",
		Call:    p.call,
	})
}
