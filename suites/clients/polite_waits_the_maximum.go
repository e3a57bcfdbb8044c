package clients

import "time"

const withWaits = "retry-after: {max: 5s, longer: wait-max}\n"

func init() {
	register(Client{
		Name:     "polite-waits-the-maximum",
		Summary:  "told to come back in a day it tries again after 5 s, as agreed",
		Contract: withWaits,
		Call:     waitsAtMost(5 * time.Second).call,
	})
}
