package clients

func init() {
	register(Client{
		Name:     "breaker-never-opens",
		Summary:  "keeps calling a server that fails every request; a fault only where a breaker was agreed",
		Contract: withBreaker,
		Breaks:   []string{"circuit-breaker"},
		Call:     polite().call,
	})
}
