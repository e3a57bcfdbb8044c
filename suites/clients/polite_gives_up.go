package clients

import "time"

func init() {
	p := polite()
	p.retryAfter = givesUpAbove(time.Second)
	register(Client{
		Name:    "polite-gives-up",
		Summary: "ends the call when it is told to wait longer than 1 s, which is lawful",
		Call:    p.call,
	})
}
