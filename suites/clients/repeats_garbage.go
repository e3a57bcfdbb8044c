package clients

import "strings"

func init() {
	p := polite()
	p.free = garbled
	register(Client{
		Name:    "repeats-garbage",
		Summary: "counts answers and broken connections, but not what is no HTTP: it asks again until its time is up",
		Breaks:  []string{"retry-cap", "amplification-factor"},
		Call:    p.call,
	})
}

// garbled reports whether the answer was no HTTP.
func garbled(o outcome) bool {
	return o.err != nil && strings.Contains(o.err.Error(), "malformed HTTP")
}
