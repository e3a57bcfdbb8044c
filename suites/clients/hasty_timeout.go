package clients

import "time"

func init() {
	p := polite()
	p.timeout = 300 * time.Millisecond
	register(Client{
		Name:    "hasty-timeout",
		Summary: "gives a server 0.3 s before it asks again, which also keeps one down that has just come back",
		Breaks:  []string{"attempt-timeout", "recovery-drain"},
		Call:    p.call,
	})
}
