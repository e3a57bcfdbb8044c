package clients

import (
	"net/http"
	"strconv"
)

func init() {
	p := polite()
	p.hasty = func(o outcome) bool {
		told := o.header.Get("Retry-After")
		seconds, err := strconv.Atoi(told)
		_, noDate := http.ParseTime(told)
		return told != "" && noDate != nil && (err != nil || seconds < 0)
	}
	register(Client{
		Name:    "junk-as-zero",
		Summary: "what it cannot read in Retry-After counts as no wait at all",
		Breaks:  []string{"retry-after-sanity", "min-spacing"},
		Call:    p.call,
	})
}
