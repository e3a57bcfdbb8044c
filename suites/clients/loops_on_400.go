package clients

import (
	"net/http"
	"time"
)

func init() {
	p := politePost()
	p.attempts, p.within, p.wait = 1<<30, time.Hour, always(0)
	p.retry = func(o outcome) bool { return o.status == http.StatusBadRequest }
	register(Client{
		Name:    "loops-on-400",
		Summary: "the mobile app that attacked its own backend: takes 400 for a passing failure and sends it again at once, for ever",
		Breaks:  []string{"no-retry-4xx", "retry-cap", "min-spacing", "amplification-factor", "client-rate", "identical-payload-rate", "retries-transient"},
		Call:    p.call,
	})
}
