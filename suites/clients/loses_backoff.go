package clients

import (
	"math/rand/v2"
	"time"
)

func init() {
	p := polite()
	curve := between(exponential(time.Second, 8*time.Second), 0.8, 1.2)
	p.wait = func(retry int) time.Duration {
		if rand.IntN(2) == 0 {
			return 0
		}
		return curve(retry)
	}
	register(Client{
		Name:    "loses-backoff",
		Summary: "its jitter sets every second wait back to nothing",
		Breaks:  []string{"min-spacing"},
		Call:    p.call,
	})
}
