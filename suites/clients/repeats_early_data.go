package clients

import "net/http"

func init() {
	p := polite()
	p.early = func(int) bool { return true }
	p.retry = func(o outcome) bool { return o.status == http.StatusTooEarly || transient(o) }
	p.attempts = 2
	register(Client{
		Name:    "repeats-early-data",
		Summary: "answers a 425 by sending the same in early data once more, which earns it the next 425",
		Breaks:  []string{"special-4xx"},
		Call:    p.call,
	})
}
