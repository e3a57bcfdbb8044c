package clients

import "time"

func init() {
	p := polite()
	p.wait = between(func(retry int) time.Duration {
		return min(800*time.Millisecond*(1<<retry-1), time.Minute)
	}, 0.8, 1.3)
	register(Client{
		Name:    "polite-one-less",
		Summary: "1, 3, 7 times 0.8 s, each from 20 % below to 30 % above, as Azure's Go client waits",
		Call:    p.call,
	})
}
