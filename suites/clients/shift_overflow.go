package clients

import "time"

func init() {
	p := polite()
	p.attempts, p.within = 200, time.Hour
	p.wait = func(retry int) time.Duration {
		d := time.Millisecond << (retry - 1) // not positive from retry 45 on
		return min(between(always(d), 0.8, 1.2)(retry), 400*time.Millisecond)
	}
	register(Client{
		Name:    "shift-overflow",
		Summary: "doubles 1 ms by shifting, without a cap on attempts: after some forty of them the wait is negative",
		Breaks:  []string{"retry-cap", "amplification-factor", "identical-payload-rate", "min-spacing", "recovery-drain"},
		Call:    p.call,
	})
}
