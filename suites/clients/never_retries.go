package clients

func init() {
	p := polite()
	p.attempts = 1
	register(Client{
		Name:    "never-retries",
		Summary: "gives up at the first failure of any kind",
		Breaks:  []string{"retries-transient"},
		Call:    p.call,
	})
}
