package clients

func init() {
	register(Client{
		Name:     "no-budget",
		Summary:  "three retries for each call, however many fail; a fault only where a budget was agreed",
		Contract: withBudget,
		Breaks:   []string{"retry-budget-ratio"},
		Call:     polite().call,
	})
}
