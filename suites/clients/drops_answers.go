package clients

import (
	"context"
	"net/http"
)

func init() {
	p := polite()
	register(Client{
		Name:    "drops-answers",
		Summary: "never uses a connection twice, so that each retry costs a handshake",
		Breaks:  []string{"connection-discipline"},
		Call: func(ctx context.Context, h *http.Client, url string) error {
			alone := *h
			alone.Transport = closing{h.Transport}
			return p.call(ctx, &alone, url)
		},
	})
}

// closing leaves no connection to the next request, and says so to nobody.
type closing struct{ http.RoundTripper }

func (c closing) RoundTrip(r *http.Request) (*http.Response, error) {
	if idle, ok := c.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
	return c.RoundTripper.RoundTrip(r)
}
