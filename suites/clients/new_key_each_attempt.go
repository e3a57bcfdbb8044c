package clients

func init() {
	p := politePost()
	p.newKeys = true
	register(Client{
		Name:    "new-key-each-attempt",
		Summary: "makes the idempotency key inside the retried function, so that it protects nothing",
		Breaks:  []string{"idempotency-key-stable"},
		Call:    p.call,
	})
}
