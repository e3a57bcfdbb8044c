package clients

import (
	"context"
	"net/http"
)

const withGarbage = "responses: {malformed: once}\n"

func init() {
	call := func(ctx context.Context, h *http.Client, url string) error {
		p, again := polite(), false
		p.retry = func(o outcome) bool {
			if garbled(o) && again {
				return false
			}
			again = again || garbled(o)
			return transient(o)
		}
		return p.call(ctx, h, url)
	}
	register(Client{
		Name:     "polite-garbage",
		Summary:  "tries once more after an answer that is no HTTP, as agreed",
		Contract: withGarbage,
		Call:     call,
	})
}
