package clients

func init() {
	register(Client{
		Name:    "polite-get",
		Summary: "4 attempts, exponential backoff, each wait drawn from U(0, d); Retry-After kept",
		Call:    polite().call,
	})
}
