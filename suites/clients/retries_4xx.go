package clients

func init() {
	p := polite()
	p.retry = func(o outcome) bool { return transient(o) || o.status >= 400 && o.status < 500 }
	register(Client{
		Name:    "retries-4xx",
		Summary: "backs off politely, but also from answers that no repeat can change",
		Breaks:  []string{"no-retry-4xx", "auth-refresh-once", "special-4xx"},
		Call:    p.call,
	})
}
