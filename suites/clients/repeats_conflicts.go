package clients

import "net/http"

func init() {
	p := polite()
	p.retry = func(o outcome) bool { return transient(o) || o.status == http.StatusConflict }
	register(Client{
		Name:    "repeats-conflicts",
		Summary: "sends what met a conflict again as it was, as Envoy does when told to retry 4xx",
		Breaks:  []string{"special-4xx"},
		Call:    p.call,
	})
}
