package clients

import "time"

func init() {
	register(Client{
		Name:     "hedges-too-soon",
		Summary:  "sends a copy after 20 ms, before a good answer can be there where the network is slow",
		Contract: withHedging,
		Breaks:   []string{"hedge-bounded"},
		Call:     hedged(polite(), 20*time.Millisecond, 2, false),
	})
}
