package clients

import "time"

func init() {
	p := polite()
	p.wait = exponential(time.Second, 8*time.Second)
	register(Client{
		Name:    "no-jitter",
		Summary: "1, 2, 4 s to the millisecond, so that all clients come back together",
		Breaks:  []string{"jitter-present", "herd-index"},
		Call:    p.call,
	})
}
