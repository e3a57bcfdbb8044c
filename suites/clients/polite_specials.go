package clients

import (
	"context"
	"net/http"
)

func init() {
	call := func(ctx context.Context, h *http.Client, url string) error {
		p, before := polite(), 0 // statuses belong to one call: two at once must not share them
		p.retry = func(o outcome) bool {
			first := o.status != before
			before = o.status
			switch o.status {
			case http.StatusRequestTimeout:
				return true
			case http.StatusMisdirectedRequest: // the next attempt needs another connection
				h.CloseIdleConnections()
				return first
			case http.StatusTooEarly:
				return first
			default:
				return transient(o)
			}
		}
		return p.call(ctx, h, url)
	}
	register(Client{
		Name:    "polite-specials",
		Summary: "backs off from 408, and tries 421 (on a new connection) and 425 once more",
		Call:    call,
	})
}
