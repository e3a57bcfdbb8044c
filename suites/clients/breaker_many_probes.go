package clients

import "time"

func init() {
	register(Client{
		Name:     "breaker-many-probes",
		Summary:  "a breaker that tries the server five times as often as agreed",
		Contract: withBreaker,
		Breaks:   []string{"circuit-breaker"},
		Start:    guarded(polite(), func() *breaker { return &breaker{failures: 20, open: time.Second} }),
	})
}
