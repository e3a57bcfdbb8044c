package clients

import "time"

func init() {
	p := polite()
	p.within, p.timeout, p.idle = time.Hour, time.Hour, 4*time.Second
	register(Client{
		Name:    "read-timeout-only",
		Summary: "gives up when nothing came for 4 s, like most socket timeouts: an answer that drips keeps it for ever",
		Breaks:  []string{"attempt-timeout", "total-deadline"},
		Call:    p.call,
	})
}
