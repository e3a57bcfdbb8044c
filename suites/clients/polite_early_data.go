package clients

import "net/http"

func init() {
	p := polite()
	p.early = func(attempt int) bool { return attempt == 1 }
	p.retry = func(o outcome) bool { return o.status == http.StatusTooEarly || transient(o) }
	p.attempts = 2
	register(Client{
		Name:    "polite-early-data",
		Summary: "sends its first attempt in early data, and repeats it after a 425 as soon as the handshake is through",
		Call:    p.call,
	})
}
