package clients

import "time"

func init() {
	p := polite()
	p.attempts, p.within, p.timeout = 2, 6*time.Second, 2*time.Second
	p.wait = between(always(300*time.Millisecond), 0.5, 1.5)
	register(Client{
		Name:    "polite-short-fuse",
		Summary: "one retry, an attempt timeout of 2 s, 6 s in all: what a user waits for",
		Call:    p.call,
	})
}
