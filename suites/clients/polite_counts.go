package clients

import "strconv"

func init() {
	p := politePost()
	p.count = func(attempt int) string { return strconv.Itoa(attempt - 1) }
	register(Client{
		Name:    "polite-counts",
		Summary: "says on each attempt how many there were before",
		Call:    p.call,
	})
}
