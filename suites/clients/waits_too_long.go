package clients

import "time"

func init() {
	p := polite()
	p.within, p.wait = time.Hour, between(exponential(10*time.Second, time.Hour), 11, 13)
	register(Client{
		Name:    "waits-too-long",
		Summary: "no upper bound on the delay: 110 s and more before the first retry",
		Breaks:  []string{"delay-cap", "total-deadline", "retry-after-sanity", "retry-after-not-late"},
		Call:    p.call,
	})
}
