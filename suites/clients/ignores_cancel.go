package clients

import (
	"context"
	"net/http"
)

func init() {
	p := polite()
	register(Client{
		Name:    "ignores-cancel",
		Summary: "does not pass its caller's context on, so that nothing ends its attempts and waits",
		Breaks:  []string{"no-retry-after-cancel"},
		Call: func(ctx context.Context, h *http.Client, url string) error {
			return p.call(context.WithoutCancel(ctx), h, url)
		},
	})
}
