package clients

import "time"

func init() {
	p := polite()
	p.timeout = 900 * time.Millisecond
	register(Client{
		Name:    "hasty-timeout",
		Summary: "gives a server 0.9 s before it asks again",
		Breaks:  []string{"attempt-timeout"},
		Call:    p.call,
	})
}
