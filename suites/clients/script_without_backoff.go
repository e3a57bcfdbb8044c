package clients

import "time"

func init() {
	p := polite()
	p.attempts, p.within, p.wait = 1<<30, time.Hour, always(25*time.Millisecond)
	p.retry = func(o outcome) bool { return o.err != nil || o.status >= 400 }
	p.retryAfter = noRetryAfter
	register(Client{
		Name:    "script-without-backoff",
		Summary: "the internal script: every failure is tried again after 25 ms, 40 requests a second out of one",
		Breaks: []string{"no-retry-4xx", "auth-refresh-once", "redirect-bound", "special-4xx", "no-retry-permanent-5xx", "retry-cap", "backoff-growth", "retry-after-delta", "retry-after-date", "amplification-factor", "client-rate", "identical-payload-rate",
			"jitter-present", "throttle-scope", "herd-index"},
		Call: p.call,
	})
}
