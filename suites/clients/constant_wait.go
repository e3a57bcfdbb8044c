package clients

import "time"

func init() {
	p := polite()
	p.wait = between(always(2*time.Second), 0.5, 1.5)
	register(Client{
		Name:    "constant-wait",
		Summary: "jittered, but no longer after each failure: the vendor of the webhook storm",
		Breaks:  []string{"backoff-growth"},
		Call:    p.call,
	})
}
