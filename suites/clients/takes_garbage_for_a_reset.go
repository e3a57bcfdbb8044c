package clients

func init() {
	register(Client{
		Name:     "takes-garbage-for-a-reset",
		Summary:  "polite-get, where the contract lets an answer that is no HTTP be retried once only",
		Contract: withGarbage,
		Breaks:   []string{"retry-cap"},
		Call:     polite().call,
	})
}
