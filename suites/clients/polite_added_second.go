package clients

import (
	"math/rand/v2"
	"time"
)

func init() {
	p := polite()
	curve := exponential(time.Second, 8*time.Second)
	p.wait = func(retry int) time.Duration { return curve(retry) + rand.N(time.Second) }
	register(Client{
		Name:    "polite-added-second",
		Summary: "1, 2, 4 s and up to a second more, as Google's guides have it",
		Call:    p.call,
	})
}
