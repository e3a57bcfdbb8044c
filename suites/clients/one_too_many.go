package clients

func init() {
	p := polite()
	p.attempts = 5
	register(Client{
		Name:    "one-too-many",
		Summary: "takes the 4 attempts of the contract for 4 retries",
		Breaks:  []string{"retry-cap", "amplification-factor", "identical-payload-rate"},
		Call:    p.call,
	})
}
