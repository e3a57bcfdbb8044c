package clients

func init() {
	register(Client{
		Name:    "polite-tokens",
		Summary: "three calls with one expired token: one refresh for all, one repeat for each",
		Call:    withToken(polite(), 1, true),
	})
}
