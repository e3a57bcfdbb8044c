package clients

import "time"

func init() {
	p := polite()
	p.retryAfter = givesUpAbove(5 * time.Second)
	register(Client{
		Name:     "gives-up-on-long-waits",
		Summary:  "ends the call when it is told to wait longer than 5 s, where the contract wants it to wait so long and try again",
		Contract: withWaits,
		Breaks:   []string{"retry-after-sanity"},
		Call:     p.call,
	})
}
