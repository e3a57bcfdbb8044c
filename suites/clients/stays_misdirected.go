package clients

import (
	"context"
	"net/http"
)

func init() {
	call := func(ctx context.Context, h *http.Client, url string) error {
		p, again := polite(), false
		p.retry = func(o outcome) bool {
			if o.status == http.StatusMisdirectedRequest && !again {
				again = true
				return true
			}
			return transient(o)
		}
		return p.call(ctx, h, url)
	}
	register(Client{
		Name:    "stays-misdirected",
		Summary: "tries 421 once more, but over the connection that was the wrong one",
		Breaks:  []string{"special-4xx"},
		Call:    call,
	})
}
