package clients

import "time"

func init() {
	p := polite()
	p.wait = between(always(2*time.Second), 0.8, 1.2)
	register(Client{
		Name:    "constant-wait",
		Summary: "jittered, but no longer after each failure: the vendor of the webhook storm",
		Breaks:  []string{"backoff-growth"},
		Call:    p.call,
	})
}
