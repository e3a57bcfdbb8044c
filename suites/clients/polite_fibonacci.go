package clients

import "time"

func init() {
	p := polite()
	p.wait = between(func(retry int) time.Duration {
		d, next := 500*time.Millisecond, time.Second
		for range retry - 1 {
			d, next = next, d+next
		}
		return d
	}, 0.75, 1.25)
	register(Client{
		Name:    "polite-fibonacci",
		Summary: "waits of 0.5, 1, 1.5, 2.5 s, each within 25 %",
		Call:    p.call,
	})
}
