package clients

import "time"

func init() {
	p := polite()
	p.attempts, p.wait = 8, fullJitter(250*time.Millisecond, 2*time.Second)
	register(Client{
		Name:    "retries-too-often",
		Summary: "8 attempts where 4 are allowed",
		Breaks:  []string{"retry-cap", "amplification-factor", "identical-payload-rate"},
		Call:    p.call,
	})
}
