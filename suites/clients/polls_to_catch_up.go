package clients

import (
	"context"
	"net/http"
	"time"
)

func init() {
	p := polite()
	p.timeout = 30 * time.Second
	register(Client{
		Name:     "polls-to-catch-up",
		Summary:  "polls by a plan of one a second, and sends at once all that it missed while an answer was slow",
		Contract: withPolling,
		Breaks:   []string{"poll-cadence"},
		Call: func(ctx context.Context, h *http.Client, url string) error {
			for due := time.Now(); ; due = due.Add(time.Second) {
				if !sleep(ctx, time.Until(due)) {
					return ctx.Err()
				}
				p.send(ctx, h, url, "", 1)
			}
		},
	})
}
