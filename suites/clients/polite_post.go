package clients

func init() {
	register(Client{
		Name:    "polite-post",
		Summary: "a write that is safe to repeat: one Idempotency-Key for all attempts, the whole body each time",
		Call:    politePost().call,
	})
}
