package clients

func init() {
	p := polite()
	p.alone = true
	register(Client{
		Name:    "throttles-one-call",
		Summary: "keeps Retry-After in the call that was told, while all others go on as if nothing had been said",
		Breaks:  []string{"throttle-scope"},
		Call:    p.call,
	})
}
