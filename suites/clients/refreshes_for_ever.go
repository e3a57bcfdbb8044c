package clients

func init() {
	register(Client{
		Name:    "refreshes-for-ever",
		Summary: "refreshes and repeats as long as it is answered 401",
		Breaks:  []string{"auth-refresh-once"},
		Call:    withToken(polite(), 40, true),
	})
}
