package clients

func init() {
	p := polite()
	p.retry = func(o outcome) bool {
		switch o.header.Get("X-Should-Retry") {
		case "true":
			return true
		case "false":
			return false
		}
		return transient(o)
	}
	register(Client{
		Name:    "polite-directed",
		Summary: "does what x-should-retry says, and decides by status only where it says nothing",
		Call:    p.call,
	})
}
