package clients

import (
	"context"
	"net/http"
)

func init() {
	p := polite()
	register(Client{
		Name:    "follows-for-ever",
		Summary: "follows redirects without counting them",
		Breaks:  []string{"redirect-bound"},
		Call: func(ctx context.Context, h *http.Client, url string) error {
			endless := *h
			endless.CheckRedirect = func(*http.Request, []*http.Request) error { return nil }
			return p.call(ctx, &endless, url)
		},
	})
}
