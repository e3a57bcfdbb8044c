package clients

func init() {
	p := politePost()
	p.count = func(int) string { return "0" }
	register(Client{
		Name:    "counts-none",
		Summary: "writes the header that counts retries outside the loop, so that it always says 0",
		Breaks:  []string{"attempt-header"},
		Call:    p.call,
	})
}
