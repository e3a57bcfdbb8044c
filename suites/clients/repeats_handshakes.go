package clients

func init() {
	p := polite()
	p.retry = func(o outcome) bool { return transient(o) || distrusted(o.err) }
	register(Client{
		Name:    "repeats-handshakes",
		Summary: "takes a certificate that it must not trust for a broken connection, and tries again",
		Breaks:  []string{"retry-cap"},
		Call:    p.call,
	})
}
