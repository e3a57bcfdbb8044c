package clients

import "time"

func init() {
	p := polite()
	p.within, p.timeout = time.Hour, time.Hour
	register(Client{
		Name:    "no-timeout",
		Summary: "has no timeouts, like many a library by default: a silent server keeps it for ever",
		Breaks:  []string{"attempt-timeout", "total-deadline"},
		Call:    p.call,
	})
}
