package clients

import "time"

func init() {
	p := polite()
	p.wait = between(linear(400*time.Millisecond), 0.8, 1.2)
	register(Client{
		Name:    "polite-linear",
		Summary: "waits of 0.4, 0.8, 1.2 s, each within 20 %",
		Call:    p.call,
	})
}
