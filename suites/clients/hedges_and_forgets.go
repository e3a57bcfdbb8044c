package clients

import "time"

func init() {
	register(Client{
		Name:     "hedges-and-forgets",
		Summary:  "lets the slow copy go on when the other was answered",
		Contract: withHedging,
		Breaks:   []string{"hedge-bounded"},
		Call:     hedged(polite(), 250*time.Millisecond, 2, true),
	})
}
