package clients

import "time"

func init() {
	p := polite()
	p.wait, p.retryAfter = between(exponential(200*time.Millisecond, time.Second), 0.5, 1), noRetryAfter
	register(Client{
		Name:    "ignores-retry-after",
		Summary: "keeps its own backoff whatever the server asks for",
		Breaks:  []string{"retry-after-delta", "retry-after-date", "throttle-scope"},
		Call:    p.call,
	})
}
