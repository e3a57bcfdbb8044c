package clients

func init() {
	p := politePost()
	p.key = nil
	register(Client{
		Name:    "repeats-unsafe-writes",
		Summary: "sends a POST without an idempotency key again although the first may have been carried out",
		Breaks:  []string{"idempotent-only"},
		Call:    p.call,
	})
}
