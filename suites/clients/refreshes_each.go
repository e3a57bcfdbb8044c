package clients

func init() {
	register(Client{
		Name:    "refreshes-each",
		Summary: "three calls with one expired token, and each of them refreshes it",
		Breaks:  []string{"auth-refresh-once", "no-retry-4xx"},
		Call:    withToken(polite(), 1, false),
	})
}
