package clients

import (
	"context"
	"net/http"
	"sync"
)

const withGone = "responses: {410: never-again}\n"

func init() {
	register(Client{
		Name:     "polite-forgets-targets",
		Summary:  "sends nothing any more to a place that has answered 410, as senders of webhooks agree",
		Contract: withGone,
		Start: func() func(context.Context, *http.Client, string) error {
			var mu sync.Mutex
			var gone error
			return func(ctx context.Context, h *http.Client, url string) error {
				mu.Lock()
				over := gone
				mu.Unlock()
				if over != nil {
					return over
				}
				p := polite()
				p.retry = func(o outcome) bool {
					if o.status == http.StatusGone {
						mu.Lock()
						defer mu.Unlock()
						gone = o.result()
					}
					return transient(o)
				}
				return p.call(ctx, h, url)
			}
		},
	})
}
