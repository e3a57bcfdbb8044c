package clients

import (
	"context"
	"net/http"
	"time"
)

func init() {
	p := polite()
	call := func(ctx context.Context, h *http.Client, url string) error {
		if err := p.call(ctx, h, url); err != nil {
			return err
		}
		sleep(ctx, 2*time.Second)
		return p.send(ctx, h, url, "", 1).result()
	}
	register(Client{
		Name:    "sends-after-success",
		Summary: "a repeat that was already scheduled is sent although the answer has come",
		Breaks:  []string{"stop-after-success"},
		Call:    call,
	})
}
