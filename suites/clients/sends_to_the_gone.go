package clients

func init() {
	register(Client{
		Name:     "sends-to-the-gone",
		Summary:  "does not retry a 410, but sends the next event to the same place, and the one after that",
		Contract: withGone,
		Breaks:   []string{"no-retry-4xx"},
		Call:     polite().call,
	})
}
