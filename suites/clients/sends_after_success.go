package clients

import (
	"context"
	"net/http"
	"time"
)

func init() {
	p := polite()
	call := func(ctx context.Context, h *http.Client, url string) error {
		ctx, cancel := context.WithTimeout(ctx, p.within)
		defer cancel()
		o := p.send(ctx, h, url, "", 1)
		if !transient(o) {
			return o.result()
		}
		// Both retries are on their way as soon as the first attempt has failed; nothing calls the second one back.
		for retry := range 2 {
			if !sleep(ctx, time.Second+p.pause(retry+1, o)) {
				return ctx.Err()
			}
			o = p.send(ctx, h, url, "", retry+2)
		}
		return o.result()
	}
	register(Client{
		Name:    "sends-after-success",
		Summary: "the second retry was scheduled along with the first, and goes out although that one succeeded",
		Breaks:  []string{"stop-after-success"},
		Call:    call,
	})
}
