package clients

import "time"

func init() {
	p := polite()
	p.wait = between(geometric(300*time.Millisecond, 3), 0.9, 1.1)
	register(Client{
		Name:    "polite-fast-growth",
		Summary: "grows by 3 from 0.3 s, each wait within 10 %",
		Call:    p.call,
	})
}
