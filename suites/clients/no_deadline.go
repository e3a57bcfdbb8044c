package clients

import "time"

func init() {
	p := polite()
	p.within, p.timeout = time.Hour, 12*time.Second
	register(Client{
		Name:    "no-deadline",
		Summary: "bounds each attempt but not the call: four attempts of 12 s and the waits between them",
		Breaks:  []string{"total-deadline"},
		Call:    p.call,
	})
}
