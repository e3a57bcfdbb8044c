package clients

import "time"

func init() {
	p := polite()
	p.wait = between(func(retry int) time.Duration {
		return 500 * time.Millisecond * (1<<(retry-1) - 1)
	}, 0.8, 1.2)
	register(Client{
		Name:    "first-wait-zero",
		Summary: "waits of 2^(n-1)-1 half seconds, the first of which is none",
		Breaks:  []string{"min-spacing"},
		Call:    p.call,
	})
}
