package clients

func init() {
	p := polite()
	p.retry = func(o outcome) bool { return transient(o) || o.status >= 500 }
	register(Client{
		Name:    "retries-every-5xx",
		Summary: "takes 501 and its like for passing failures",
		Breaks:  []string{"no-retry-permanent-5xx"},
		Call:    p.call,
	})
}
