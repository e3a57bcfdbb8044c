package clients

import "time"

func init() {
	p := polite()
	p.wait = between(fibonacci(500*time.Millisecond), 0.75, 1.25)
	register(Client{
		Name:    "polite-fibonacci",
		Summary: "waits of 0.5, 1, 1.5, 2.5 s, each within 25 %",
		Call:    p.call,
	})
}
