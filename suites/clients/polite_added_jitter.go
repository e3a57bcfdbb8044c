package clients

import "time"

func init() {
	p := polite()
	p.wait = between(exponential(time.Second, 8*time.Second), 1, 1.5)
	register(Client{
		Name:    "polite-added-jitter",
		Summary: "3 retries from 1 s, doubling, plus up to half of the delay: the repaired mobile app",
		Call:    p.call,
	})
}
