package clients

import "time"

func init() {
	p := polite()
	p.within = 100 * 365 * 24 * time.Hour
	register(Client{
		Name:    "obeys-any-wait",
		Summary: "told to come back in a day, it keeps its worker waiting for a day",
		Breaks:  []string{"retry-after-sanity"},
		Call:    p.call,
	})
}
