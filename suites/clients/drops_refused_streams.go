package clients

import (
	"context"
	"net/http"
	"strings"
)

func init() {
	register(Client{
		Name:    "drops-refused-streams",
		Summary: "sends bodies that cannot be sent again, and takes HTTP/2's refusals for errors of its own",
		Breaks:  []string{"unprocessed-stream-retry"},
		HTTP2:   true,
		Call: func(ctx context.Context, h *http.Client, url string) error {
			p := politePost()
			p.retry = func(o outcome) bool { return transient(o) && !unprocessed(o.err) }
			return p.call(ctx, over(h, func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
				r = r.Clone(r.Context())
				r.GetBody = nil
				return next.RoundTrip(r)
			}), url)
		},
	})
}

// unprocessed reports whether HTTP/2 said that nothing was done.
func unprocessed(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "REFUSED_STREAM") || strings.Contains(err.Error(), "GOAWAY"))
}

// over gives a client whose requests go through send.
func over(h *http.Client, send func(next http.RoundTripper, r *http.Request) (*http.Response, error)) *http.Client {
	c := *h
	c.Transport = through{h.Transport, send}
	return &c
}

type through struct {
	next http.RoundTripper
	send func(next http.RoundTripper, r *http.Request) (*http.Response, error)
}

func (t through) RoundTrip(r *http.Request) (*http.Response, error) { return t.send(t.next, r) }
