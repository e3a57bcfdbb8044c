package clients

import "time"

func init() {
	p := polite()
	p.within, p.wait = time.Hour, between(exponential(400*time.Millisecond, 4*time.Second), 0.5, 1)
	p.free = func(o outcome) bool { return o.err != nil }
	register(Client{
		Name:    "caps-statuses-only",
		Summary: "counts the attempts that were answered; what the network loses is tried again for ever",
		Breaks:  []string{"retry-cap", "amplification-factor"},
		Call:    p.call,
	})
}
