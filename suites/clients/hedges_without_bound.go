package clients

import "time"

func init() {
	register(Client{
		Name:     "hedges-without-bound",
		Summary:  "sends one more copy every 250 ms until there is an answer",
		Contract: "attempts: {max: 8, within: 30s}\n" + hedging,
		Breaks:   []string{"hedge-bounded"},
		Call:     hedged(polite(), 250*time.Millisecond, 8, false),
	})
}
