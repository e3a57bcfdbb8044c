package clients

func init() {
	p := polite()
	p.wait = always(0)
	register(Client{
		Name:    "no-wait",
		Summary: "4 attempts back to back",
		Breaks:  []string{"min-spacing", "backoff-growth", "retry-after-sanity"},
		Call:    p.call,
	})
}
