package clients

import "time"

func init() {
	p := polite()
	p.attempts, p.within, p.wait = 1<<30, time.Hour, between(always(500*time.Millisecond), 0.8, 1.2)
	register(Client{
		Name:    "storms-on-recovery",
		Summary: "the vendor whose two minutes became four hours: half a second between attempts, and no call is ever given up",
		Breaks:  []string{"retry-cap", "backoff-growth", "amplification-factor", "identical-payload-rate", "recovery-drain"},
		Call:    p.call,
	})
}
