package clients

import (
	"context"
	"net/http"
)

func init() {
	const most = 20
	register(Client{
		Name:    "loops-on-refused-streams",
		Summary: "sends again what HTTP/2 did not process at once, 20 times",
		Breaks:  []string{"unprocessed-stream-retry"},
		HTTP2:   true,
		Call: func(ctx context.Context, h *http.Client, url string) error {
			return politePost().call(ctx, over(h, func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
				for i := 0; ; i++ {
					body, err := r.GetBody()
					if err != nil {
						return nil, err
					}
					again := r.Clone(r.Context())
					again.Body, again.GetBody = body, nil
					resp, err := next.RoundTrip(again)
					if !unprocessed(err) || i == most {
						return resp, err
					}
				}
			}), url)
		},
	})
}
